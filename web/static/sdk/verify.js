// Recomputing a finished packet from its proof, in the page: nobody has to be trusted for it.

import { bytesOf, splitShares } from './split.js';

/**
 * @typedef {object} Verdict
 * @property {boolean} commitment  the seed is the one that was committed to
 * @property {boolean} sum  the shares are as many and as much as the packet was
 * @property {boolean} shares  they follow from the seed, and everyone got his
 * @property {number[]} expected  the shares that follow from the seed
 * @property {true} [unavailable]  the page is not secure, so the browser does not compute; nothing is said of the rest
 *
 * @param {object} given
 * @param {import('./types.js').Packet} given.packet
 * @param {import('./types.js').Proof} given.proof
 * @param {import('./types.js').Claim[]} [given.claims]
 * @param {import('./types.js').State} [given.state]
 * @returns {Promise<Verdict>}
 */
export async function verifyPacket({ packet, proof, claims = [], state }) {
  if (!globalThis.crypto?.subtle) return { commitment: false, sum: false, shares: false, expected: [], unavailable: true };
  /** @type {Verdict} */
  const verdict = { commitment: false, sum: false, shares: false, expected: [] };
  const told = proof.shares ?? [];
  verdict.sum = told.length === packet.count && told.every((share) => share >= 1) && told.reduce((a, b) => a + b, 0) === packet.total;
  try {
    const seed = bytesOf(proof.seed);
    const digest = hexOf(await crypto.subtle.digest('SHA-256', seed));
    verdict.commitment = seed.length === 32 && digest === packet.commitment && digest === proof.commitment;
    verdict.expected = await splitShares(proof.seed, packet);
  } catch (error) {
    if (error instanceof RangeError) return verdict; // no seed, or no packet, that could be cut
    throw error;
  }
  const got = [...claims, state?.mine, state?.luckiest].filter((share) => share?.amount !== undefined);
  verdict.shares = told.length === verdict.expected.length && told.every((share, i) => share === verdict.expected[i])
    && got.every((share) => share?.amount === verdict.expected[share?.rank ? share.rank - 1 : -1]);
  return verdict;
}

/** @param {ArrayBuffer} buffer */
function hexOf(buffer) {
  return Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
