// The documents of draws, which are read over HTTP: the proof of a packet, and the keys that sign receipts.

import { LostError, RefusedError } from './errors.js';
import { heed, limits, pause } from './waiting.js';

/**
 * @typedef {import('./link.js').Link} Link
 * @typedef {import('./types.js').CallOptions} CallOptions
 */

const unauthorized = [101, 109]; // unauthorized, token_expired: the next connect has a new token
const badTokens = 4; // answers in a row that refuse the token
const silence = 60_000; // ms, of one try: the proof of a large draw has megabytes

export class Documents {
  #link;
  #base;

  /**
   * @param {string} address of the socket
   * @param {Link} link
   */
  constructor(address, link) {
    const socket = new URL(address);
    socket.protocol = socket.protocol.replace('ws', 'http');
    this.#base = new URL('./', socket).href;
    this.#link = link;
  }

  /**
   * proof returns the proof of a finished packet.
   * @param {string} packet
   * @param {CallOptions} [options]
   * @returns {Promise<import('./proof.js').ProofFile>}
   */
  proof(packet, options) {
    return this.#get(`packets/${encodeURIComponent(packet)}/proof`, options);
  }

  /**
   * receiptKeys returns the public keys that have signed receipts.
   * @param {CallOptions} [options]
   * @returns {Promise<string[]>}
   */
  async receiptKeys(options) {
    return (await this.#get('receipt-keys', options)).keys;
  }

  /**
   * #get reads a document, again after lost answers and errors that pass.
   * @param {string} path
   * @param {CallOptions} [options]
   * @returns {Promise<any>}
   */
  async #get(path, options) {
    const until = Date.now() + (options?.patience ?? Infinity);
    const { late, signals } = limits(options);
    const all = [this.#link.life, ...signals];
    let refusedTokens = 0;
    /** @type {unknown} */
    let last;
    try {
      for (let tries = 0; ; tries++) {
        await this.#link.up(signals); // without a socket there is no server, and the token may be old
        let wait = 200 + Math.random() * Math.min(300 * 2 ** Math.min(tries, 10), 8000);
        try {
          return await heed(read(this.#base + path, this.#link.token), all);
        } catch (error) {
          const badToken = error instanceof RefusedError && unauthorized.includes(error.code);
          refusedTokens = badToken ? refusedTokens + 1 : 0;
          const again = error instanceof LostError || error instanceof RefusedError && (error.temporary || badToken);
          if (!again || refusedTokens === badTokens) throw error;
          last = error;
          if (error instanceof RefusedError) wait = Math.max(wait, Number(error.fields.retry_after_ms) || 0);
        }
        if (Date.now() + wait > until) throw last;
        await pause(wait, all);
      }
    } catch (error) {
      throw last && late?.aborted && error === late.reason ? last : error;
    }
  }
}

/**
 * read reads a document once.
 * @param {string} address
 * @param {string} token
 */
async function read(address, token) {
  let status = 0;
  let answer;
  try {
    const response = await fetch(address, { headers: { Authorization: `Bearer ${token}` }, signal: AbortSignal.timeout(silence) });
    ({ status } = response);
    answer = await response.json();
  } catch (cause) {
    throw new LostError(`the document is not answered${status ? `: status ${status}` : ''}`, { cause });
  }
  if (status === 200) return answer;
  if (answer?.error) throw new RefusedError(answer.error);
  throw new LostError(`the document is answered by status ${status}`); // by a proxy
}
