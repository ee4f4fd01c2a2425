// A stream of random words of one packet, as web/docs/protocol/proof.md defines it.

import { hmac } from './sha256.js';

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
   * @param {Uint8Array} prefix
   */
  constructor(seed, prefix) {
    this.#mac = hmac(seed);
    this.#prefix = prefix;
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

  /**
   * points returns count distinct numbers in [0, n), in ascending order.
   * @param {number} n
   * @param {number} count
   */
  points(n, count) {
    /** @type {Set<number>} */
    const points = new Set();
    while (points.size < count) points.add(Number(this.below(BigInt(n))));
    return [...points].sort((a, b) => a - b);
  }

  #word() {
    if (this.#next === this.#words.byteLength) {
      const block = encoder.encode(String(this.#block++));
      const message = new Uint8Array(this.#prefix.length + block.length);
      message.set(this.#prefix);
      message.set(block, this.#prefix.length);
      this.#words = new DataView(this.#mac(message).buffer);
      this.#next = 0;
    }
    this.#next += 8;
    return this.#words.getBigUint64(this.#next - 8);
  }
}
