// The random words of one packet, as web/docs/protocol/proof.md defines them.

import { hmac } from './sha256.js';

/** @typedef {import('./types.js').Packet} Packet */
/** @typedef {Pick<Packet, 'from'|'key'|'mode'|'spread'|'total'|'count'>} Cuttable  what the shares depend on */

const range = 1n << 64n;
const encoder = new TextEncoder();

/** Block i is HMAC-SHA256(seed, prefix + decimal i), read as four words. */
export class Words {
  /** @type {DataView} */
  #words = new DataView(new ArrayBuffer(0));
  #next = 0; // index of the next byte in the block
  #block = 0;
  #mac;
  #prefix;

  /**
   * @param {Uint8Array} seed
   * @param {Cuttable} p
   */
  constructor(seed, p) {
    this.#mac = hmac(seed);
    this.#prefix = ['hongbao/1', p.from.id, p.key, p.mode, p.spread, p.total, p.count, ''].join('\n');
  }

  /**
   * below returns a number in [0, n) without bias: words of the incomplete last range of n in 2^64 are skipped.
   * @param {bigint} n
   */
  below(n) {
    for (const end = range - (range % n); ;) {
      const word = this.#word();
      if (word < end) return word % n;
    }
  }

  #word() {
    if (this.#next === this.#words.byteLength) {
      const sealed = this.#mac(encoder.encode(`${this.#prefix}${this.#block++}`));
      this.#words = new DataView(sealed.buffer);
      this.#next = 0;
    }
    this.#next += 8;
    return this.#words.getBigUint64(this.#next - 8);
  }
}
