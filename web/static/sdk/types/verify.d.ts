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
export function verifyPacket({ packet, proof, claims, state }: {
    packet: import("./types.js").Packet;
    proof: import("./types.js").Proof;
    claims?: import("./types.js").Claim[] | undefined;
    state?: import("./types.js").State | undefined;
}): Promise<Verdict>;
export type Verdict = {
    /**
     * the seed matches the commitment
     */
    commitment: boolean;
    /**
     * number and sum of the shares match the packet
     */
    sum: boolean;
    /**
     * the shares follow from the seed, and each known claim has the right amount
     */
    shares: boolean;
    /**
     * the shares that follow from the seed
     */
    expected: number[];
    /**
     * it could not be computed here; the other fields then mean nothing
     */
    unavailable?: true | undefined;
};
