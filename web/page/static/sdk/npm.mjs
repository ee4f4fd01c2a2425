// The entry of the npm package. It takes the class Centrifuge from its dependency; browsers that load index.js from a
// server take it from the vendored file.

import { Centrifuge } from 'centrifuge';
import { Client as AnyClient } from './client.js';

export { ClosedError, RefusedError } from './errors.js';
export { leafOf, verifyReceipt } from './draw.js';
export { newKey } from './key.js';
export { receiptInProof, verifyProof } from './proof.js';
export { splitShares } from './split.js';
export { verifyPacket } from './verify.js';

/**
 * @typedef {import('./types.js').Entry} Entry
 * @typedef {import('./types.js').Room} Room
 * @typedef {import('./types.js').User} User
 * @typedef {import('./types.js').Member} Member
 * @typedef {import('./types.js').Packet} Packet
 * @typedef {import('./types.js').State} State
 * @typedef {import('./types.js').Events} Events
 * @typedef {import('./types.js').ReadyEvent} ReadyEvent
 * @typedef {import('./types.js').EntryEvent} EntryEvent
 * @typedef {import('./types.js').CallOptions} CallOptions
 * @typedef {import('./types.js').ClientOptions} ClientOptions
 * @typedef {import('./types.js').NewMessage} NewMessage
 * @typedef {import('./types.js').NewPacket} NewPacket
 * @typedef {import('./types.js').NewRoom} NewRoom
 * @typedef {import('./types.js').GrabReply} GrabReply
 * @typedef {import('./types.js').File} File
 * @typedef {import('./types.js').UploadOptions} UploadOptions
 * @typedef {import('./types.js').FileVersion} FileVersion
 */

/** Client is a user's connection to the server. */
export class Client extends AnyClient {
  /**
   * The client begins to connect at once.
   * @param {string} address like wss://chat.example.com/v1/socket
   * @param {ClientOptions} options
   */
  constructor(address, options) {
    super(address, { ...options, Centrifuge: options.Centrifuge ?? Centrifuge });
  }
}
