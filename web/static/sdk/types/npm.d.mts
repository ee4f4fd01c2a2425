export { newKey } from "./key.js";
export { splitShares } from "./split.js";
export { verifyPacket } from "./verify.js";
/**
 * @typedef {import('./types.js').Entry} Entry
 * @typedef {import('./types.js').Room} Room
 * @typedef {import('./types.js').User} User
 * @typedef {import('./types.js').Member} Member
 * @typedef {import('./types.js').Packet} Packet
 * @typedef {import('./types.js').State} State
 * @typedef {import('./types.js').Events} Events
 * @typedef {import('./types.js').CallOptions} CallOptions
 * @typedef {import('./types.js').ClientOptions} ClientOptions
 * @typedef {import('./types.js').NewMessage} NewMessage
 * @typedef {import('./types.js').NewPacket} NewPacket
 * @typedef {import('./types.js').NewRoom} NewRoom
 * @typedef {import('./types.js').GrabReply} GrabReply
 */
/** Client is a user's connection to the server. */
export class Client extends AnyClient {
}
export type Entry = import("./types.js").Entry;
export type Room = import("./types.js").Room;
export type User = import("./types.js").User;
export type Member = import("./types.js").Member;
export type Packet = import("./types.js").Packet;
export type State = import("./types.js").State;
export type Events = import("./types.js").Events;
export type CallOptions = import("./types.js").CallOptions;
export type ClientOptions = import("./types.js").ClientOptions;
export type NewMessage = import("./types.js").NewMessage;
export type NewPacket = import("./types.js").NewPacket;
export type NewRoom = import("./types.js").NewRoom;
export type GrabReply = import("./types.js").GrabReply;
import { Client as AnyClient } from './client.js';
export { ClosedError, RefusedError } from "./errors.js";
