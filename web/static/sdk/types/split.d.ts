/** @typedef {import('./words.js').Cuttable} Cuttable */
/**
 * splitShares returns the shares in the order in which they are claimed.
 * @param {string} seed in hex
 * @param {Cuttable} packet
 * @returns {number[]}
 */
export function splitShares(seed: string, packet: Cuttable): number[];
/**
 * seedOf decodes a seed, 32 bytes in hex.
 * @param {string} hex
 */
export function seedOf(hex: string): Uint8Array<ArrayBuffer>;
export type Cuttable = import("./words.js").Cuttable;
