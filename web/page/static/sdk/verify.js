// Recomputes the shares of a finished packet from its proof, in the browser, so that users need not trust the server.

import { sha256 } from './sha256.js';
import { seedOf, splitShares } from './split.js';

/**
 * @typedef {object} Verdict
 * @property {boolean} commitment  the seed matches the commitment
 * @property {boolean} sum  number and sum of the shares match the packet
 * @property {boolean} shares  the shares follow from the seed, and each known claim has the right amount
 * @property {number[]} expected  the shares that follow from the seed
 * @property {true} [unavailable]  it could not be computed here; the other fields then mean nothing
 *
 * @param {object} given
 * @param {import('./types.js').Packet} given.packet
 * @param {import('./types.js').Proof} given.proof
 * @param {import('./types.js').Claim[]} [given.claims]
 * @param {import('./types.js').State} [given.state]
 * @returns {Promise<Verdict>}
 */
export async function verifyPacket({ packet, proof, claims = [], state }) {
  /** @type {Verdict} */
  const verdict = { commitment: false, sum: false, shares: false, expected: [] };
  const published = proof.shares ?? [];
  // The total of a draw may have been cut anew, into one share for each participant: verifyProof compares that with the draw.
  const count = packet.rest === 'share' && published.length > 0 ? Math.min(published.length, packet.count) : packet.count;
  verdict.sum = published.length === count && published.every((share) => share >= 1) && published.reduce((a, b) => a + b, 0) === packet.total;
  try {
    const digest = commitmentOf(proof.seed);
    verdict.commitment = digest === packet.commitment && digest === proof.commitment;
    verdict.expected = splitShares(proof.seed, { ...packet, count });
  } catch (error) {
    if (error instanceof RangeError) return verdict; // the seed is invalid, or such a packet cannot be split
    throw error;
  }
  const { expected } = verdict;
  const got = [...claims, state?.mine, state?.luckiest].filter((share) => share?.amount !== undefined);
  verdict.shares = published.length === expected.length && published.every((share, i) => share === expected[i])
    && got.every((share) => share?.amount === expected[(share?.rank ?? 0) - 1]);
  return verdict;
}

/**
 * commitmentOf returns the commitment of a seed; '': the seed is invalid.
 * @param {string} seed in hex
 */
export function commitmentOf(seed) {
  try {
    return hexOf(sha256(seedOf(seed)));
  } catch {
    return '';
  }
}

/** @param {Uint8Array} bytes */
function hexOf(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
