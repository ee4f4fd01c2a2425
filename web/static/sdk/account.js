// One's money as last told. Replies and pushes cross: a push says how it stands when it is sent, so a reply
// to what was asked before a push came says nothing new.

/** @typedef {import('./types.js').Currency} Currency */

export class Account {
  balance = 0;
  nextCommitment = ''; // to the seed of the next packet one sends
  /** @type {Currency} */
  currency = { code: '', exponent: 0 };
  #pushes = 0;

  /** @param {{balance: number, next_commitment: string, currency: Currency}} data of the connect reply */
  connected(data) {
    this.#pushes++;
    this.currency = data.currency;
    this.#take(data);
  }

  /** @param {{balance?: number, next_commitment?: string}} push */
  pushed(push) {
    this.#pushes++;
    this.#take(push);
  }

  /**
   * asked gives what takes in the reply to something that is asked now.
   * @returns {(reply: {balance?: number, next_commitment?: string}) => void}
   */
  asked() {
    const before = this.#pushes;
    return (reply) => {
      if (this.#pushes === before) this.#take(reply);
    };
  }

  /** @param {{balance?: unknown, next_commitment?: unknown}} told */
  #take(told) {
    if (typeof told?.balance === 'number') this.balance = told.balance;
    if (typeof told?.next_commitment === 'string' && told.next_commitment) this.nextCommitment = told.next_commitment;
  }
}
