// Red packets: sends them with the seed that was committed to before, and grabs until the outcome is certain.

import { RefusedError } from './errors.js';
import { newKey } from './key.js';
import { limits, pause } from './waiting.js';

/**
 * @typedef {import('./types.js').NewPacket} NewPacket
 * @typedef {import('./types.js').CallOptions} CallOptions
 * @typedef {import('./types.js').GrabReply} GrabReply
 * @typedef {import('./types.js').SendPacketReply} SendPacketReply
 * @typedef {import('./link.js').Link} Link
 * @typedef {import('./calls.js').Calls} Calls
 * @typedef {import('./account.js').Account} Account
 */

const conflict = 1008;

export class Packets {
  /** @type {Set<{packet: string, result: (reply: GrabReply) => void}>} */
  #grabs = new Set(); // grabs that wait for their outcome
  #link;
  #calls;
  #account;

  /**
   * @param {Link} link
   * @param {Calls} calls
   * @param {Account} account
   */
  constructor(link, calls, account) {
    this.#link = link;
    this.#calls = calls;
    this.#account = account;
  }

  /**
   * send sends a packet, once. Without a key it uses the seed to which the server had committed before it could know
   * the key. If another device has used that seed, it takes a new key and the next seed. With a key it sends the packet
   * as given, and a conflict is an error.
   * @param {NewPacket} packet
   * @param {CallOptions} [options]
   * @returns {Promise<SendPacketReply>}
   */
  async send(packet, options) {
    if (packet.key) return this.#calls.ask('send_packet', packet, options);
    await this.#link.up(limits(options).signals);
    for (let commitment = this.#account.nextCommitment; ;) {
      const request = { ...packet, key: newKey(), commitment };
      try {
        return await this.#sendOnce(request, options);
      } catch (error) {
        const next = error instanceof RefusedError && error.code === conflict && error.fields.next_commitment;
        if (!next) throw error;
        commitment = next;
      }
    }
  }

  /**
   * @param {NewPacket} request
   * @param {CallOptions} [options]
   */
  async #sendOnce(request, options) {
    try {
      return await this.#calls.ask('send_packet', request, options);
    } catch (error) {
      if (!(error instanceof RefusedError) || error.code !== conflict || !error.repeated) throw error;
      // An earlier try without an answer may have used the seed. Its packet is committed by now.
      return this.#calls.ask('send_packet', request, options);
    }
  }

  /**
   * grab grabs a share and resolves when the outcome is certain. patience covers all tries together.
   * @param {string} packet
   * @param {string} [passphrase]
   * @param {CallOptions & {onPending?: (reply: GrabReply) => void}} [options]
   * @returns {Promise<GrabReply>}
   */
  async grab(packet, passphrase, options = {}) {
    const { onPending, signal, patience = Infinity } = options;
    const signals = signal ? [this.#link.life, signal] : [this.#link.life];
    const until = Date.now() + patience;
    /** @type {(reply: GrabReply) => void} */
    let result = () => undefined;
    const late = /** @type {Promise<GrabReply>} */ (new Promise((resolve) => {
      result = resolve;
    }));
    const waiting = { packet, result };
    this.#grabs.add(waiting);
    try {
      for (let wait = 1000, told = false; ; wait = Math.min(2 * wait, 10_000)) {
        const left = Math.max(0, until - Date.now());
        const reply = await this.#calls.ask('grab', { packet, passphrase: passphrase || undefined }, { signal, patience: left });
        if (reply.outcome !== 'pending') return reply;
        if (!told) onPending?.(reply);
        told = true;
        const outcome = await Promise.race([late, pause(Math.min(wait, until - Date.now()), signals)]);
        if (outcome) return outcome;
      }
    } finally {
      this.#grabs.delete(waiting);
    }
  }

  /**
   * result takes the result of a pending grab, from any of the user's devices.
   * @param {GrabReply} reply
   */
  result(reply) {
    for (const waiting of this.#grabs) {
      if (waiting.packet === reply.packet) waiting.result(reply);
    }
  }
}
