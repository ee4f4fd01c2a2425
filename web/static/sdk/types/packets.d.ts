export class Packets {
    /**
     * @param {Link} link
     * @param {Calls} calls
     * @param {Account} account
     */
    constructor(link: Link, calls: Calls, account: Account);
    /**
     * send sends a packet, once. Without a key it uses the seed to which the server had committed before it could know
     * the key. If another device has used that seed, it takes a new key and the next seed. With a key it sends the packet
     * as given, and a conflict is an error.
     * @param {NewPacket} packet
     * @param {CallOptions} [options]
     * @returns {Promise<SendPacketReply>}
     */
    send(packet: NewPacket, options?: CallOptions): Promise<SendPacketReply>;
    /**
     * grab grabs a share and resolves when the outcome is certain. patience covers all tries together.
     * @param {string} packet
     * @param {string} [passphrase]
     * @param {CallOptions & {onPending?: (reply: GrabReply) => void}} [options]
     * @returns {Promise<GrabReply>}
     */
    grab(packet: string, passphrase?: string, options?: CallOptions & {
        onPending?: (reply: GrabReply) => void;
    }): Promise<GrabReply>;
    /**
     * result takes the result of a pending grab, from any of the user's devices.
     * @param {GrabReply} reply
     */
    result(reply: GrabReply): void;
    #private;
}
export type NewPacket = import("./types.js").NewPacket;
export type CallOptions = import("./types.js").CallOptions;
export type GrabReply = import("./types.js").GrabReply;
export type SendPacketReply = import("./types.js").SendPacketReply;
export type Link = import("./link.js").Link;
export type Calls = import("./calls.js").Calls;
export type Account = import("./account.js").Account;
