// Calls: each is repeated unchanged until it is answered, its caller gives up or the client has ended.

import { LostError, RefusedError } from './errors.js';
import { heed, limits, pause } from './waiting.js';

/**
 * @typedef {import('./link.js').Link} Link
 * @typedef {import('./account.js').Account} Account
 * @typedef {import('./types.js').CallOptions} CallOptions
 */

const rateLimited = 111;
const tooLong = 1005;
const envelopeBytes = 256; // upper bound of what is added to the data of a command

export class Calls {
  frameBytes = 65536; // the server closes the connection for good if a frame is larger
  #link;
  #account;

  /**
   * @param {Link} link
   * @param {Account} account
   */
  constructor(link, account) {
    this.#link = link;
    this.#account = account;
  }

  /**
   * ask sends a command until it is answered.
   * @param {string} method
   * @param {any} request
   * @param {CallOptions & {onLost?: () => void}} [options]  onLost: a try without an answer may have been executed
   * @returns {Promise<any>}
   */
  async ask(method, request, options) {
    const data = this.#frozen(request);
    const until = Date.now() + (options?.patience ?? Infinity);
    const { late, signals } = limits(options);
    /** @type {RefusedError|undefined} */
    let last;
    let lost = false;
    try {
      for (let tries = 0; ; tries++) {
        let wait = backoff(tries);
        try {
          return await this.#try(method, data, signals);
        } catch (error) {
          if (error instanceof RefusedError) {
            error.repeated = lost;
            if (!error.temporary) throw error;
            last = error;
            lost ||= error.code !== rateLimited;
            wait = Math.max(wait, Math.min(Number(error.fields.retry_after_ms) || 0, 3_600_000));
          } else if (error instanceof LostError) {
            lost = true;
          } else {
            throw error;
          }
        }
        if (last && Date.now() + wait > until) throw last;
        if (lost) options?.onLost?.();
        await pause(wait, [this.#link.life, ...signals]);
      }
    } catch (error) {
      throw last && late?.aborted && error === late.reason ? last : error;
    }
  }

  /**
   * #try sends a command once.
   * @param {string} method
   * @param {any} data
   * @param {AbortSignal[]} signals
   */
  async #try(method, data, signals) {
    await this.#link.up(signals);
    const answer = this.#link.rpc(method, data).then((reply) => {
      this.#account.learn(reply);
      return reply;
    }, (error) => {
      throw error instanceof LostError ? error : new RefusedError(error);
    });
    return heed(answer, [this.#link.life, ...signals]);
  }

  /**
   * #frozen returns the request as it will be sent, even if the caller changes its object later.
   * @param {any} request
   */
  #frozen(request) {
    const text = JSON.stringify(request ?? {});
    const bytes = new TextEncoder().encode(text).length + envelopeBytes;
    if (bytes > this.frameBytes) throw new RefusedError({ code: tooLong, message: 'too_long field=data' });
    return JSON.parse(text);
  }
}

/**
 * backoff returns how long to wait after so many tries, in ms, with full jitter.
 * @param {number} tries
 */
function backoff(tries) {
  return Math.random() * Math.min(100 * 2 ** Math.min(tries, 10), 5000);
}
