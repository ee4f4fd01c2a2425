// The user's account. Replies and pushes may arrive out of order, so each has a version of the account: one with a
// lower version changes nothing.

/**
 * @typedef {import('./types.js').Currency} Currency
 * @typedef {{balance?: unknown, next_commitment?: unknown, account_version?: unknown}} AccountFields  what a reply or push says of the account
 */

export class Account {
  user = ''; // its id
  balance = 0;
  nextCommitment = ''; // to the seed of the next packet that the user will send
  version = 0; // of balance: increases with each change
  /** @type {Currency} */
  currency = { code: '', exponent: 0 };
  #commitmentVersion = 0; // of nextCommitment: some replies have only a balance

  /**
   * connected takes the account of a connect reply, whatever was known before: the user may be another one, and a
   * database that was restored from a backup has lower versions.
   * @param {AccountFields & {currency: Currency, user: import('./types.js').User}} data
   */
  connected(data) {
    this.user = data.user.id;
    this.currency = data.currency;
    this.version = 0;
    this.#commitmentVersion = 0;
    this.learn(data);
  }

  /**
   * learn takes the fields that are not older than the known ones.
   * @param {AccountFields} fields
   */
  learn(fields) {
    const version = typeof fields?.account_version === 'number' ? fields.account_version : 0;
    if (typeof fields?.balance === 'number' && version >= this.version) {
      this.balance = fields.balance;
      this.version = version;
    }
    if (typeof fields?.next_commitment === 'string' && fields.next_commitment && version >= this.#commitmentVersion) {
      this.nextCommitment = fields.next_commitment;
      this.#commitmentVersion = version;
    }
  }

  /** view is the account as it is now. @returns {import('./types.js').AccountView} */
  view() {
    const { balance, version, currency, nextCommitment } = this;
    return { balance, version, currency, nextCommitment };
  }
}
