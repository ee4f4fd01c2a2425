export class Client extends Methods {
    /**
     * The client begins to connect at once.
     * @param {string} address like wss://chat.example.com/v1/socket
     * @param {ClientOptions} options
     */
    constructor(address: string, options: ClientOptions);
    /** @type {User} */
    me: User;
    /** @type {Limits} */
    limits: Limits;
    account: Account;
    /** state is connecting, connected or closed. */
    get state(): import("./types.js").LinkState;
    /**
     * on adds a listener of an event. It returns the function that removes it.
     * @template {keyof Events} Name
     * @param {Name} name
     * @param {(event: Events[Name]) => void} listener
     */
    on<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): () => undefined;
    /** close ends the client, its calls and its events. */
    close(): void;
    /**
     * sendPacket sends a red packet, once, with the seed to which the server had committed before. With a key it sends
     * the packet as given.
     * @param {import('./types.js').NewPacket} packet
     * @param {import('./types.js').CallOptions} [options]
     */
    sendPacket(packet: import("./types.js").NewPacket, options?: import("./types.js").CallOptions): Promise<import("./types.js").SendPacketReply>;
    /**
     * grab grabs a share of a packet, and resolves when the outcome is certain. onPending is called if it takes long.
     * @param {string} packet
     * @param {string} [passphrase]
     * @param {import('./types.js').CallOptions & {onPending?: (reply: import('./types.js').GrabReply) => void}} [options]
     */
    grab(packet: string, passphrase?: string, options?: import("./types.js").CallOptions & {
        onPending?: (reply: import("./types.js").GrabReply) => void;
    }): Promise<import("./types.js").GrabReply>;
    /**
     * typing publishes to a room that the user is typing. There is no answer; while offline nothing is sent or repeated.
     * @param {string} room
     */
    typing(room: string): Promise<void>;
    #private;
}
export type ClientOptions = import("./types.js").ClientOptions;
export type Events = import("./types.js").Events;
export type User = import("./types.js").User;
export type Limits = import("./types.js").Limits;
export type State = import("./types.js").State;
export type Entry = import("./types.js").Entry;
export type Line = import("./stay.js").Line;
export type Hole = import("./stay.js").Hole;
import { Methods } from './methods.js';
import { Account } from './account.js';
