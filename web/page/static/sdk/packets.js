// Red packets: sends them with the seed that was committed to before, and grabs.
//
// The server may refuse a commitment only because another device of the user has used its seed. Otherwise the server could look at the
// shares of a draw, refuse it, and get another draw. So each refusal must name the packet that has used the seed.

import { RefusedError } from './errors.js';
import { commitmentOf } from './verify.js';
import { newKey } from './key.js';
import { limits } from './waiting.js';

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
const maxDraws = 4; // of one packet; more would need as many devices that send at the same moment
const maxUsed = 100;

/** @typedef {{key: string, commitment: string}} Draw  what the shares of a packet are drawn by */

export class Packets {
  /** @type {Map<string, string>} */
  #used = new Map(); // by open packet that another device has sent: the commitment that it has used
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
   * the key. If another device has used that seed, it takes a new key and the next seed. With a key and without onDraw it sends the
   * packet as given, and a conflict is an error.
   * @param {NewPacket} packet
   * @param {CallOptions & {onDraw?: (draw: Draw) => void}} [options]  onDraw gets each new draw before it is sent; with a key, packet has
   *   the first one
   * @returns {Promise<SendPacketReply>}
   */
  async send(packet, options) {
    if (packet.key && !options?.onDraw) return this.#calls.ask('send_packet', packet, options);
    await this.#link.up(limits(options).signals);
    let draw = { key: packet.key ?? '', commitment: packet.commitment ?? '' };
    for (let draws = 1; ; draws++) {
      if (!draw.key || !draw.commitment) {
        draw = { key: draw.key || newKey(), commitment: draw.commitment || this.#account.nextCommitment };
        options?.onDraw?.(draw);
      }
      try {
        return await this.#sendOnce({ ...packet, ...draw }, options);
      } catch (error) {
        if (!(error instanceof RefusedError) || error.code !== conflict || !error.fields.next_commitment) throw error;
        this.#account.learn({ next_commitment: error.fields.next_commitment }); // a later call uses it: the user has seen the conflict then
        if (draws >= maxDraws || !await this.#isUsed(error.fields.packet, draw, options)) throw error;
        draw = { key: '', commitment: error.fields.next_commitment };
      }
    }
  }

  /**
   * #isUsed reports whether a packet shows that another device of the user has used a seed: it is the user's, has the commitment, and its
   * seed fits if it has ended. An open packet is checked by ended.
   * @param {string|undefined} id
   * @param {Draw} draw
   * @param {CallOptions} [options]
   */
  async #isUsed(id, { key, commitment }, options) {
    if (!id || this.#used.has(id)) return false;
    /** @type {import('./types.js').PacketReply} */
    let reply;
    try {
      reply = await this.#calls.ask('packet', { packet: id, limit: 1 }, options);
    } catch (error) {
      if (error instanceof RefusedError) return false;
      throw error;
    }
    const { packet, proof } = reply;
    if (packet.id !== id || packet.from.id !== this.#account.user || packet.commitment !== commitment || packet.key === key) return false;
    if (proof) return commitmentOf(proof.seed) === commitment;
    if (this.#used.size >= maxUsed) return false;
    this.#used.set(id, commitment);
    return true;
  }

  /**
   * ended checks the seed of a packet that has ended, if the packet was the reason of a conflict. It returns what does not fit.
   * @param {{packet: string, seed: string}} done
   * @returns {import('./types.js').SeedMismatchEvent|undefined}
   */
  ended({ packet, seed }) {
    const commitment = this.#used.get(packet);
    if (!commitment) return undefined;
    this.#used.delete(packet);
    return commitmentOf(seed) === commitment ? undefined : { packet, commitment };
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
   * grab grabs a share, or enters a draw. A user that has won before is answered "already". So is a winner whose first answer was lost:
   * repeated is then true.
   * @param {string} packet
   * @param {string} [passphrase]
   * @param {CallOptions} [options]
   * @returns {Promise<GrabReply>}
   */
  async grab(packet, passphrase, options) {
    let lost = false;
    const reply = await this.#calls.ask('grab', { packet, passphrase: passphrase || undefined }, { ...options, onLost: () => { lost = true; } });
    return lost ? { ...reply, repeated: true } : reply;
  }
}
