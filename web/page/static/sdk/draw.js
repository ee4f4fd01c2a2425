// Who wins the shares of a draw, and receipts, as web/docs/protocol/proof.md defines them. Hashes, seeds and public keys are texts in hex.

import { hmac, sha256 } from './sha256.js';
import { seedOf } from './split.js';
import { Words } from './words.js';

const encoder = new TextEncoder();

/**
 * leafOf returns what the root covers of one participant.
 * @param {string} sender id of the user
 * @param {string} key of the request to send the packet
 * @param {number} wave of a rain, from 1; 0: the packet is no rain
 * @param {string} user
 */
export function leafOf(sender, key, wave, user) {
  return toHex(sha256(fields('hongbao/entry/2', sender, key, number(wave), user)));
}

/**
 * rootOf returns the Merkle tree hash of RFC 6962 over the sorted leaves, in whatever order they are given.
 * @param {string[]} leaves
 */
export function rootOf(leaves) {
  /** @type {Uint8Array[]} */
  let level = bottom(leaves);
  if (level.length === 0) return toHex(sha256(new Uint8Array(0)));
  while (level.length > 1) level = above(level);
  return toHex(level[0]);
}

/**
 * inclusionOf returns the path from a leaf to the root, the lowest node first.
 * @param {string[]} leaves
 * @param {number} index among the sorted leaves
 */
export function inclusionOf(leaves, index) {
  if (!(Number.isInteger(index) && index >= 0 && index < leaves.length)) throw new RangeError(`leaf ${index} of ${leaves.length}`);
  const path = [];
  let at = index;
  /** @type {Uint8Array[]} */
  let level = bottom(leaves);
  for (; level.length > 1; level = above(level)) {
    const beside = at ^ 1;
    if (beside < level.length) path.push(toHex(level[beside])); // else the node goes up as it is
    at >>= 1;
  }
  return path;
}

/**
 * included reports whether the path leads from the leaf with this index among n leaves to the root, as RFC 9162 verifies it.
 * @param {string} leaf
 * @param {number} index
 * @param {number} n
 * @param {string[]} path
 * @param {string} root
 */
export function included(leaf, index, n, path, root) {
  if (!(Number.isInteger(index) && index >= 0 && index < n && n <= 2 ** 31)) return false;
  let at = index;
  let last = n - 1;
  let node = bottomNode(seedOf(leaf));
  for (const text of path) {
    if (last === 0) return false; // the path is too long
    const beside = seedOf(text);
    if (at % 2 === 1 || at === last) {
      node = inner(beside, node);
      for (; at % 2 === 0 && at !== 0; at >>= 1) last >>= 1;
    } else {
      node = inner(node, beside);
    }
    at >>= 1;
    last >>= 1;
  }
  return last === 0 && toHex(node) === root.toLowerCase();
}

/**
 * orderOf returns the leaves in the order of the draw: the first one wins the first share.
 * @param {string} seed
 * @param {string} sender id of the user
 * @param {string} key of the request to send the packet
 * @param {number} wave
 * @param {string[]} leaves
 */
export function orderOf(seed, sender, key, wave, leaves) {
  const mac = hmac(hmac(seedOf(seed))(fields('hongbao/window/2', sender, key, number(wave))));
  const tickets = leaves.map((leaf) => toHex(mac(seedOf(leaf))) + leaf.toLowerCase()); // equal tickets are ordered by leaf
  return tickets.sort(byText).map((ticket) => ticket.slice(64));
}

/** Each wave of a rain has a cell of so many milliseconds: first a pause, then users can enter for waveWindow. */
export const waveCell = 3000;
export const waveWindow = 2500;

/**
 * @typedef {object} Rain
 * @property {number} waves
 * @property {number} over_s  the waves lie within so many seconds
 */

/**
 * opensOf returns when users can begin to enter each wave of a rain, in milliseconds after its beginning.
 * @param {string} seed
 * @param {string} sender id of the user
 * @param {string} key of the request to send the packet
 * @param {Rain} rain
 */
export function opensOf(seed, sender, key, rain) {
  const words = new Words(seedOf(seed), fields('hongbao/rain/1', sender, key));
  const slack = rain.over_s * 1000 - rain.waves * waveCell;
  const offsets = Array.from({ length: rain.waves }, () => Number(words.below(BigInt(slack + 1))));
  return offsets.sort((a, b) => a - b).map((offset, i) => offset + i * waveCell + waveCell - waveWindow);
}

/**
 * @typedef {object} Receipt  the server's word that a participant's leaf is under the root
 * @property {string} packet
 * @property {number} [wave]
 * @property {string} user
 * @property {string} leaf
 * @property {number} at  when the entry was committed, in Unix milliseconds
 * @property {string} key  the server's public key
 * @property {string} signature
 */

/**
 * receiptText returns what the server signs.
 * @param {Receipt} r
 */
export function receiptText(r) {
  const at = new DataView(new ArrayBuffer(8));
  at.setBigInt64(0, BigInt(r.at));
  return fields('hongbao/receipt/2', r.packet, number(r.wave ?? 0), seedOf(r.leaf), r.user, new Uint8Array(at.buffer));
}

/**
 * verifyReceipt says whether the receipt's signature is by the key. The caller knows which keys are the server's: the key in the receipt
 * proves nothing. It says 'unavailable' if this browser cannot check signatures of Ed25519; insecure pages never can. It does not check
 * the leaf: compare it with leafOf, or call receiptInProof.
 * @param {string} key
 * @param {Receipt} receipt
 * @returns {Promise<'good'|'bad'|'unavailable'>}
 */
export async function verifyReceipt(key, receipt) {
  /** @type {Uint8Array<ArrayBuffer>[]} */
  let parts;
  try {
    parts = [fromHex(key), fromHex(receipt.signature), receiptText(receipt)];
  } catch {
    return 'bad'; // a field is missing or malformed
  }
  const [raw, signature, text] = parts;
  if (raw.length !== 32 || signature.length !== 64) return 'bad';
  try {
    const imported = await crypto.subtle.importKey('raw', raw, 'Ed25519', false, ['verify']);
    return (await crypto.subtle.verify('Ed25519', imported, signature, text)) ? 'good' : 'bad';
  } catch {
    return 'unavailable';
  }
}

/**
 * bottom returns the lowest nodes of the tree.
 * @param {string[]} leaves
 */
function bottom(leaves) {
  return leaves.map((leaf) => leaf.toLowerCase()).sort(byText).map((leaf) => bottomNode(seedOf(leaf)));
}

/**
 * above returns the level above another one. A node without another beside it goes up as it is.
 * @param {Uint8Array[]} level
 */
function above(level) {
  const up = [];
  for (let i = 0; i < level.length; i += 2) up.push(i + 1 < level.length ? inner(level[i], level[i + 1]) : level[i]);
  return up;
}

/** @param {Uint8Array} leaf */
function bottomNode(leaf) {
  return sha256(join([Uint8Array.of(0), leaf]));
}

/**
 * @param {Uint8Array} left
 * @param {Uint8Array} right
 */
function inner(left, right) {
  return sha256(join([Uint8Array.of(1), left, right]));
}

/**
 * fields writes each field behind its length, four bytes.
 * @param {(string|Uint8Array)[]} all
 */
function fields(...all) {
  return join(all.flatMap((field) => {
    const bytes = typeof field === 'string' ? encoder.encode(field) : field;
    return [number(bytes.length), bytes];
  }));
}

/** @param {number} n */
function number(n) {
  if (!(Number.isInteger(n) && n >= 0 && n < 2 ** 32)) throw new RangeError(`${n} has no four bytes`);
  return Uint8Array.of(n >>> 24, n >>> 16, n >>> 8, n);
}

/**
 * @param {Uint8Array[]} parts
 */
function join(parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** @param {string} text */
function fromHex(text) {
  if (!/^([0-9a-f]{2})*$/i.test(text)) throw new RangeError('not hex');
  return Uint8Array.from({ length: text.length / 2 }, (_, i) => parseInt(text.slice(2 * i, 2 * i + 2), 16));
}

/** @param {Uint8Array} bytes */
function toHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * @param {string} a
 * @param {string} b
 */
function byText(a, b) {
  return a < b ? -1 : Number(a > b);
}
