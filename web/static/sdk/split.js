// How a packet is cut from its seed, as PROTOCOL section 7 fixes it word by word.

/**
 * @typedef {import('./types.js').Packet} Packet
 * @typedef {Pick<Packet, 'from'|'key'|'mode'|'spread'|'total'|'count'>} Cuttable  what the shares depend on
 */

const batch = 512; // blocks that are made at a time
const range = 1n << 64n;

/**
 * splitShares gives the shares in the order of the queue. It needs crypto.subtle.
 * @param {string} seed in hex
 * @param {Cuttable} packet
 * @returns {Promise<number[]>}
 */
export async function splitShares(seed, packet) {
  const { mode, spread, total, count } = packet;
  if (!(Number.isSafeInteger(total) && Number.isSafeInteger(count) && count >= 1 && total >= count)) {
    throw new RangeError(`cannot cut ${total} into ${count} shares of at least 1`);
  }
  const words = await Words.of(seed, packet);
  switch (`${mode} ${spread}`) {
    case 'equal ':
      return cutEqual(words, total, count);
    case 'lucky classic':
    case 'lucky calm':
      return cutDraws(words, total, count, spread === 'calm');
    case 'lucky wild':
      return cutLine(words, total, count);
  }
  throw new RangeError(`unknown mode ${mode} with spread ${spread}`);
}

/**
 * @param {Words} words
 * @param {number} total
 * @param {number} count
 */
async function cutEqual(words, total, count) {
  const more = total % count;
  const each = (total - more) / count;
  return shuffled(words, Array.from({ length: count }, (_, i) => (i < more ? each + 1 : each)));
}

/**
 * Each share is drawn from a range around the mean of what is left, so that every draw leaves at least 1 for each that follows.
 * @param {Words} words
 * @param {number} total
 * @param {number} count
 * @param {boolean} calm
 */
async function cutDraws(words, total, count, calm) {
  const shares = [];
  let left = BigInt(total);
  for (let k = BigInt(count); k >= 2n; k--) {
    let lo = calm ? atLeast1(left / (2n * k)) : 1n;
    let hi = atLeast1(calm ? (3n * left) / (2n * k) : (2n * left) / k - 1n);
    if (hi > left - k + 1n) hi = left - k + 1n;
    if (lo > hi) lo = hi;
    const share = lo + await words.below(hi - lo + 1n);
    shares.push(Number(share));
    left -= share;
  }
  shares.push(Number(left));
  return shuffled(words, shares);
}

/** @param {bigint} n */
function atLeast1(n) {
  return n > 1n ? n : 1n;
}

/**
 * A line is cut at distinct points; the pieces are exchangeable as they are.
 * @param {Words} words
 * @param {number} total
 * @param {number} count
 */
async function cutLine(words, total, count) {
  /** @type {Set<number>} */
  const cuts = new Set();
  while (cuts.size < count - 1) cuts.add(1 + Number(await words.below(BigInt(total - 1))));
  const ends = [...cuts].sort((a, b) => a - b).concat(total);
  return ends.map((end, i) => end - (i > 0 ? ends[i - 1] : 0));
}

/**
 * @param {Words} words
 * @param {number[]} shares
 */
async function shuffled(words, shares) {
  for (let i = shares.length - 1; i >= 1; i--) {
    const j = Number(await words.below(BigInt(i + 1)));
    [shares[i], shares[j]] = [shares[j], shares[i]];
  }
  return shares;
}

/** The words of one packet: HMAC-SHA256(seed, prefix + number of the block), each read as four. */
class Words {
  /** @type {bigint[]} */
  #made = [];
  #next = 0;
  #block = 0;
  #key;
  #prefix;

  /**
   * @param {CryptoKey} key
   * @param {string} prefix
   */
  constructor(key, prefix) {
    this.#key = key;
    this.#prefix = prefix;
  }

  /**
   * @param {string} seed
   * @param {Cuttable} p
   */
  static async of(seed, p) {
    const key = await crypto.subtle.importKey('raw', bytesOf(seed), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
    return new Words(key, ['hongbao/1', p.from.id, p.key, p.mode, p.spread, p.total, p.count, ''].join('\n'));
  }

  /**
   * below gives a number in [0, n) without bias: words of the incomplete last stretch of 2^64 are passed over.
   * @param {bigint} n
   */
  async below(n) {
    const end = range - (range % n);
    for (;;) {
      if (this.#next === this.#made.length) await this.#make();
      const word = this.#made[this.#next++];
      if (word < end) return word % n;
    }
  }

  async #make() {
    const encoder = new TextEncoder();
    const blocks = await Promise.all(Array.from({ length: batch }, (_, i) => (
      crypto.subtle.sign('HMAC', this.#key, encoder.encode(`${this.#prefix}${this.#block + i}`)))));
    this.#block += batch;
    this.#next = 0;
    this.#made = blocks.flatMap((block) => {
      const view = new DataView(block);
      return [0, 8, 16, 24].map((at) => view.getBigUint64(at));
    });
  }
}

/**
 * bytesOf reads hex.
 * @param {string} hex
 */
export function bytesOf(hex) {
  if (!/^([0-9a-f]{2})+$/i.test(hex)) throw new RangeError('not hex');
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}
