// The errors of calls: refusals of the server, and the end of the client.

const closedByCaller = 0;

/** RefusedError is an error that the server has answered. */
export class RefusedError extends Error {
  /** @param {{code: number, message: string, temporary?: boolean}} answer as on the wire: a word, then name=value pairs */
  constructor(answer) {
    super(answer.message || `error ${answer.code}`);
    const [word, ...pairs] = answer.message.split(' ').filter(Boolean);
    this.name = 'RefusedError';
    this.code = answer.code;
    this.word = word ?? '';
    this.temporary = answer.temporary ?? false;
    /** An earlier try was not answered, and may have been executed. */
    this.repeated = false;
    /** @type {Record<string, any>} what follows the word: counts as numbers, all else as strings */
    this.fields = Object.fromEntries(pairs.filter((pair) => pair.includes('=')).map(readPair));
    /** Of `denied`: what the host says to the user, and JSON for the client. @type {string} */
    this.reason = decoded(this.fields.reason) ?? '';
    /** @type {any} */
    this.data = parsed(decoded(this.fields.data));
  }
}

/** decoded returns a percent-encoded text, or undefined if it is none. @param {any} text */
function decoded(text) {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** parsed returns the value of a JSON text, or undefined if it is none. @param {string|undefined} text */
function parsed(text) {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @param {string} pair */
function readPair(pair) {
  const cut = pair.indexOf('=');
  const name = pair.slice(0, cut);
  const value = pair.slice(cut + 1);
  // The name decides whether a value is a number, because a commitment may consist of digits only.
  return [name, name.endsWith('_ms') && /^\d{1,15}$/.test(value) ? Number(value) : value];
}

/** ClosedError says that the client has ended: the server has refused it, or close was called (code 0). */
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

  /** closed is the end that the program itself has requested. */
  static byCaller() {
    return new ClosedError(closedByCaller, 'closed');
  }
}

/** LostError says that no answer came: the command may have been executed. Calls handle it by repeating. */
export class LostError extends Error {}
