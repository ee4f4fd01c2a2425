// How the shares of a packet follow from its seed, as web/docs/protocol/proof.md defines it.

import { Words } from './words.js';

/** @typedef {import('./types.js').Packet} Packet */
/** @typedef {Pick<Packet, 'from'|'key'|'mode'|'spread'|'total'|'count'>} Cuttable  what the shares depend on */

/**
 * splitShares returns the shares in the order in which they are claimed.
 * @param {string} seed in hex
 * @param {Cuttable} packet
 * @returns {number[]}
 */
export function splitShares(seed, packet) {
  const { mode, spread, total, count } = packet;
  if (!(Number.isSafeInteger(total) && Number.isSafeInteger(count) && count >= 1 && total >= count)) {
    throw new RangeError(`cannot cut ${total} into ${count} shares of at least 1`);
  }
  const prefix = ['hongbao/1', packet.from.id, packet.key, mode, spread, total, count, ''].join('\n');
  const words = new Words(seedOf(seed), new TextEncoder().encode(prefix));
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
 * seedOf decodes a seed, 32 bytes in hex.
 * @param {string} hex
 */
export function seedOf(hex) {
  if (!/^[0-9a-f]{64}$/i.test(hex)) throw new RangeError('not a seed');
  return Uint8Array.from({ length: 32 }, (_, i) => parseInt(hex.slice(2 * i, 2 * i + 2), 16));
}

/**
 * @param {Words} words
 * @param {number} total
 * @param {number} count
 */
function cutEqual(words, total, count) {
  const more = total % count;
  const each = (total - more) / count;
  return shuffled(words, Array.from({ length: count }, (_, i) => (i < more ? each + 1 : each)));
}

/**
 * cutDraws draws each share from a range around the mean of the rest, so that every draw leaves at least 1 for each
 * share that follows.
 * @param {Words} words
 * @param {number} total
 * @param {number} count
 * @param {boolean} calm
 */
function cutDraws(words, total, count, calm) {
  const shares = [];
  let left = BigInt(total); // three times this value may be too large for an exact number
  for (let k = BigInt(count); k >= 2n; k--) {
    let lo = calm ? atLeast1(left / (2n * k)) : 1n;
    let hi = atLeast1(calm ? (3n * left) / (2n * k) : (2n * left) / k - 1n);
    if (hi > left - k + 1n) hi = left - k + 1n;
    if (lo > hi) lo = hi;
    const share = lo + words.below(hi - lo + 1n);
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
 * cutLine cuts the total at distinct random points. The pieces need no shuffle.
 * @param {Words} words
 * @param {number} total
 * @param {number} count
 */
function cutLine(words, total, count) {
  const ends = words.points(total - 1, count - 1).map((point) => point + 1).concat(total);
  return ends.map((end, i) => end - (i > 0 ? ends[i - 1] : 0));
}

/**
 * @param {Words} words
 * @param {number[]} shares
 */
function shuffled(words, shares) {
  for (let i = shares.length - 1; i >= 1; i--) {
    const j = Number(words.below(BigInt(i + 1)));
    [shares[i], shares[j]] = [shares[j], shares[i]];
  }
  return shares;
}
