/** Block i is HMAC-SHA256(seed, prefix + decimal i), read as four words. */
export class Words {
    /**
     * @param {Uint8Array} seed
     * @param {Cuttable} p
     */
    constructor(seed: Uint8Array, p: Cuttable);
    /**
     * below returns a number in [0, n) without bias: words of the incomplete last range of n in 2^64 are skipped.
     * @param {bigint} n
     */
    below(n: bigint): bigint;
    #private;
}
export type Packet = import("./types.js").Packet;
/**
 * what the shares depend on
 */
export type Cuttable = Pick<Packet, "from" | "key" | "mode" | "spread" | "total" | "count">;
