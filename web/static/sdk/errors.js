// What calls are rejected with: the server's refusals, and the end of the client.

const closedByCaller = 0;

/** RefusedError is what the server answered instead of a result. */
export class RefusedError extends Error {
  /** @param {{code: number, message: string, temporary?: boolean}} answer as on the wire: a word, then name=value pairs */
  constructor(answer) {
    super(answer.message || `error ${answer.code}`);
    const [word, ...pairs] = answer.message.split(' ').filter(Boolean);
    this.name = 'RefusedError';
    this.code = answer.code;
    this.word = word ?? '';
    this.temporary = answer.temporary ?? false;
    /** An earlier try was not answered, and may have done what was asked. */
    this.repeated = false;
    /** @type {Record<string, any>} what follows the word: counts as numbers, all else as strings */
    this.fields = Object.fromEntries(pairs.filter((pair) => pair.includes('=')).map(readPair));
  }
}

/** @param {string} pair */
function readPair(pair) {
  const cut = pair.indexOf('=');
  const name = pair.slice(0, cut);
  const value = pair.slice(cut + 1);
  // By the name, not by the looks: a commitment may happen to be all digits.
  return [name, name.endsWith('_ms') && /^\d{1,15}$/.test(value) ? Number(value) : value];
}

/** ClosedError says that the client has ended: the server does not want it any more, or close was called (code 0). */
export class ClosedError extends Error {
  /**
   * @param {number} code 3500 to 3999, the code of the error that refused to connect, or 0
   * @param {string} reason
   */
  constructor(code, reason) {
    super(code === closedByCaller ? 'client closed' : `the server has ended the connection: ${code} ${reason}`);
    this.name = 'ClosedError';
    this.code = code;
    this.reason = reason;
  }

  /** closed is the end that the program itself has asked for. */
  static byCaller() {
    return new ClosedError(closedByCaller, 'closed');
  }
}

/** LostError says that no answer came: what was asked may have been done. Calls repeat themselves; nobody sees it. */
export class LostError extends Error {}
