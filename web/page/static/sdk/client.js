// Client is a user's connection to the server, across any number of sockets: the entries of its rooms, its calls, its
// account. It must always hold:
//
//  - The entries of each room come in order, without gaps and duplicates, from where the user entered it, across
//    reconnects and restarts of the server. Entries that a reconnect did not bring are read from history before
//    anything newer is published; entries that cannot be read any more, or are too many, are named by 'skipped'.
//  - A call is repeated unchanged until it is answered, its signal aborts or the client has ended. What it creates is
//    created once: its key is drawn before the first try and does not change.

import { Account } from './account.js';
import { Calls } from './calls.js';
import { Documents } from './documents.js';
import { ClosedError, RefusedError } from './errors.js';
import { Feed } from './feed.js';
import { Link } from './link.js';
import { Listeners } from './listeners.js';
import { Methods, pushEvents } from './methods.js';
import { Packets } from './packets.js';
import { FileLinks, Uploads } from './uploads.js';

/**
 * @typedef {import('./types.js').ClientOptions} ClientOptions
 * @typedef {import('./types.js').Events} Events
 * @typedef {import('./types.js').User} User
 * @typedef {import('./types.js').Limits} Limits
 * @typedef {import('./types.js').State} State
 * @typedef {import('./types.js').Entry} Entry
 * @typedef {import('./stay.js').Line} Line
 * @typedef {import('./stay.js').Hole} Hole
 */

const channelPrefix = 'room:';
const notFound = 1001;
const pageLimit = 100; // the largest page that the server returns
const maxHeld = 1024; // messages that wait while rooms are listed; older ones are dropped

export class Client extends Methods {
  /** @type {User} */
  me = { id: '', name: '' };
  /** @type {Limits} */
  limits = {};
  account = new Account();
  #listeners = new Listeners();
  /** @type {Map<string, State>} */
  #states = new Map(); // states of the packets among the entries of the connect reply
  #receiptKey = ''; // with which the server signs receipts of draws
  #ever = false; // 'ready' was published at least once
  /** @type {AbortController|undefined} */
  #listing; // of rooms that the connect reply has left out; until it ends, events of rooms and messages wait for 'ready'
  /** @type {{name: keyof Events, event: any}[]} */
  #held = []; // such messages
  #link;
  #calls;
  #packets;
  #documents;
  #uploads;
  #links;
  #feed;

  /**
   * The client begins to connect at once.
   * @param {string} address like wss://chat.example.com/v1/socket
   * @param {ClientOptions} options
   */
  constructor(address, options) {
    super();
    if (!options.token && !options.getToken) throw new Error('token or getToken is needed');
    this.#feed = new Feed({
      queueLimit: options.queueLimit ?? 1024, maxMissed: options.maxMissed ?? 500,
      tell: (/** @type {keyof Events} */ name, event) => this.#publish(name, event),
      read: (room, hole) => this.#read(room, hole),
    });
    this.#link = new Link(address, options, {
      link: (event) => this.#listeners.tell('link', event),
      connected: (data) => this.#connected(data),
      subscribed: (sub) => this.#subscribed(sub),
      unsubscribed: ({ channel }) => this.#feed.leave(roomOf(channel)),
      publication: ({ channel, offset, data }) => this.#feed.push(roomOf(channel), lineOf(entryOf(offset ?? 0, data), this.#states)),
      message: ({ data }) => this.#message(data ?? {}),
    });
    this.#link.life.addEventListener('abort', () => {
      this.#feed.stop();
      this.#listing?.abort();
    });
    this.#calls = new Calls(this.#link, this.account);
    this.#packets = new Packets(this.#link, this.#calls, this.account);
    this.#documents = new Documents(address, this.#link);
    this.#uploads = new Uploads(address, this.#link, this.#calls);
    this.#links = new FileLinks(address, this.#calls);
  }

  /** state is connecting, connected or closed. */
  get state() {
    return this.#link.state;
  }

  /**
   * on adds a listener of an event. It returns the function that removes it.
   * @template {keyof Events} Name
   * @param {Name} name
   * @param {(event: Events[Name]) => void} listener
   */
  on(name, listener) {
    return this.#listeners.on(name, listener);
  }

  /** close ends the client, its calls and its events. */
  close() {
    this.#link.end(ClosedError.byCaller());
  }

  /**
   * call sends any command; it is for commands that have no method here. Give a key to a command that creates
   * something.
   * @override
   * @param {string} method
   * @param {any} [data]
   * @param {import('./types.js').CallOptions} [options]
   * @returns {Promise<any>}
   */
  call(method, data, options) {
    return this.#calls.ask(method, data, options);
  }

  /**
   * sendPacket sends a red packet, once, with the seed to which the server had committed before. With a key it sends
   * the packet as given. A server that refuses the seed must name the user's packet that has used it; otherwise the conflict is an
   * error. If that packet ends with another seed, 'seedMismatch' says so.
   * @param {import('./types.js').NewPacket} packet
   * @param {import('./types.js').CallOptions & {onDraw?: (draw: {key: string, commitment: string}) => void}} [options]  onDraw gets each
   *   new key and commitment before they are sent; with a key, it allows new ones after the first
   */
  sendPacket(packet, options) {
    return this.#packets.send(packet, options);
  }

  /**
   * grab grabs a share of a packet, or enters a draw, and resolves when the outcome is certain. Keep the receipt of a draw: the State has it, too.
   * checkReceipt says whether it fits.
   * @param {string} packet
   * @param {string} [passphrase]
   * @param {import('./types.js').CallOptions} [options]
   */
  grab(packet, passphrase, options) {
    return this.#packets.grab(packet, passphrase, options);
  }

  /**
   * proof reads the proof of a finished packet as one document, over HTTP. verifyProof checks it. That of a draw has the leaf of each participant.
   * @param {string} packet
   * @param {import('./types.js').CallOptions} [options]
   */
  proof(packet, options) {
    return this.#documents.proof(packet, options);
  }

  /**
   * checkReceipt says whether a receipt is the server's word that this user takes part in a packet: its packet, user and leaf fit, and the key with
   * which the server signs at present has signed it. It says 'unavailable' if all fits and this browser cannot check signatures.
   * @param {import('./types.js').Packet} packet
   * @param {import('./types.js').Receipt|undefined} receipt
   * @returns {Promise<'good'|'bad'|'unavailable'>}
   */
  async checkReceipt(packet, receipt) {
    const { leafOf, verifyReceipt } = await import('./draw.js'); // only draws need it
    const fits = receipt?.packet === packet.id && receipt.user === this.me.id && receipt.leaf === leafOf(packet.from.id, packet.key, receipt.wave ?? 0, receipt.user);
    return fits && receipt.key === this.#receiptKey ? verifyReceipt(receipt.key, receipt) : 'bad';
  }

  /**
   * receiptKeys reads the public keys that have signed receipts of draws, in hex, the present one last.
   * @param {import('./types.js').CallOptions} [options]
   */
  receiptKeys(options) {
    return this.#documents.receiptKeys(options);
  }

  /**
   * upload brings a file to a room, and resolves with it when it can be sent with a text: send({room, text, files: [file.id]}). It goes on after lost
   * connections. Its signal cancels the upload.
   * @param {string} room
   * @param {Blob} content
   * @param {import('./types.js').UploadOptions} options
   * @returns {Promise<import('./types.js').File>}
   */
  upload(room, content, options) {
    return this.#uploads.upload(room, content, options);
  }

  /**
   * fileUrl returns an address at which a file of a room can be read for some minutes, such as by an img. Addresses are asked for together, and kept.
   * @param {string} room
   * @param {string} file  its id
   * @param {import('./types.js').FileVersion} [version]
   * @param {{renew?: boolean}} [options]  renew: the last address does not work any more
   */
  fileUrl(room, file, version = 'original', options = {}) {
    return this.#links.url(room, file, version, options.renew === true);
  }

  /**
   * kick removes a user. A ban may end, at a time in Unix milliseconds, and have a reason, which only the host sees.
   * @param {string} room
   * @param {string} user
   * @param {boolean | {until?: number, reason?: string}} [ban]
   * @param {import('./types.js').CallOptions} [options]
   * @returns {Promise<import('./types.js').Nothing>}
   */
  kick(room, user, ban, options) {
    return this.call('kick', { room, user, ...(typeof ban === 'object' ? { ...ban, ban: true } : { ban }) }, options);
  }

  /**
   * deleteRoom deletes a room for good.
   * @param {string} room
   * @param {import('./types.js').CallOptions} [options]
   * @returns {Promise<import('./types.js').Nothing>}
   */
  async deleteRoom(room, options) {
    try {
      return await this.call('delete_room', { room }, options);
    } catch (error) {
      const done = error instanceof RefusedError && error.repeated && error.code === notFound;
      if (done) return {}; // an earlier try was not answered, and has deleted the room
      throw error;
    }
  }

  /**
   * typing publishes to a room that the user is typing. There is no answer; while offline nothing is sent or repeated.
   * @param {string} room
   */
  async typing(room) {
    this.#link.send({ typing: { room } });
  }

  /**
   * #connected takes the user and the rooms from the connect reply. Missed entries follow, room by room.
   * @param {any} data
   */
  #connected(data) {
    const again = this.#ever;
    this.me = data.user;
    this.limits = data.limits ?? {};
    this.#receiptKey = data.receipt_key ?? '';
    this.#calls.frameBytes = this.limits.frame_bytes || this.#calls.frameBytes;
    this.account.connected(data);
    this.#states = byPacket(data.packet_states ?? []);
    this.#listeners.tell('link', { state: 'connected', again });
    this.#listing?.abort(); // the connection was lost before all rooms were listed
    if (data.rooms_next) {
      this.#feed.hold();
      this.#listing = new AbortController();
      for (const room of data.rooms) this.#feed.enter(room, again);
      void this.#list(data, this.#listing.signal);
      return;
    }
    this.#ready(data.rooms, data.packet_states ?? []);
    const is = new Set(data.rooms.map((/** @type {{id: string}} */ room) => room.id));
    for (const room of this.#feed.rooms()) {
      if (!is.has(room)) this.#feed.leave(room);
    }
    for (const room of data.rooms) this.#feed.enter(room, again);
    this.#release(data.rooms);
  }

  /**
   * #list reads the rooms that the connect reply has left out, and publishes 'ready' with all.
   * @param {any} data
   * @param {AbortSignal} signal
   */
  async #list(data, signal) {
    const rooms = [...data.rooms];
    try {
      for (let next = data.rooms_next; next;) {
        const page = await this.#calls.ask('rooms', { next, limit: pageLimit }, { signal });
        rooms.push(...page.rooms);
        next = page.next;
      }
    } catch (error) {
      if (!(error instanceof RefusedError)) return; // the connection is lost, or the client has ended
    }
    if (signal.aborted) return;
    const there = rooms.filter(({ id }) => this.#feed.staying(id)); // without those that the user has left meanwhile
    this.#ready(there, data.packet_states ?? []);
    this.#release(there);
  }

  /**
   * #ready publishes the user and all rooms.
   * @param {import('./types.js').Room[]} rooms
   * @param {State[]} states
   */
  #ready(rooms, states) {
    const again = this.#ever;
    this.#ever = true;
    this.#listeners.tell('ready', { user: this.me, account: this.account.view(), limits: this.limits, rooms, states, again });
  }

  /**
   * #release publishes what has waited for 'ready'.
   * @param {import('./types.js').Room[]} rooms
   */
  #release(rooms) {
    this.#listing = undefined;
    this.#feed.release(rooms);
    for (const { name, event } of this.#held.splice(0)) this.#listeners.tell(name, event);
  }

  /**
   * #subscribed begins the live entries of a room: after a connect, or when the user has entered it.
   * @param {Parameters<import('./link.js').Heard['subscribed']>[0]} sub
   */
  #subscribed({ channel, streamPosition, wasRecovering, recovered, data }) {
    const id = roomOf(channel);
    if (!id || !streamPosition) return;
    const { offset, epoch } = streamPosition;
    if (!this.#feed.staying(id)) {
      const listed = this.#listing && !data?.room; // a room of the connect reply, which is listed later
      this.#feed.enter({ ...data?.room, id, last_seq: offset, read_seq: offset, unread: 0 }, listed ? this.#ever : true);
    }
    this.#feed.reach(id, epoch, offset, wasRecovering && recovered);
  }

  /** @param {Record<string, any>} data */
  #message(data) {
    const { left } = data;
    if (left) { // the unsubscribe push of the room follows
      this.#feed.willLeave(left.room, left.reason);
      return;
    }
    const news = data.wallet ? { ...data, wallet: this.#newest(data.wallet) } : data;
    for (const [name, event] of Object.entries(pushEvents)) {
      if (news[name]) this.#tell(event, news[name]);
    }
  }

  /**
   * #publish publishes an event of a room, and before it what it reveals.
   * @param {keyof Events} name
   * @param {any} event
   */
  #publish(name, event) {
    const mismatch = name === 'entry' && event.entry.kind === 'packet_done' && this.#packets.ended(event.entry.body);
    if (mismatch) this.#listeners.tell('seedMismatch', mismatch);
    this.#listeners.tell(name, event);
  }

  /**
   * #tell publishes a message, behind 'ready'.
   * @param {keyof Events} name
   * @param {any} event
   */
  #tell(name, event) {
    if (!this.#listing) {
      this.#listeners.tell(name, event);
      return;
    }
    if (this.#held.length === maxHeld) this.#held.shift();
    this.#held.push({ name, event });
  }

  /**
   * #newest returns the wallet push with the newest known account, also if the push is older.
   * @param {import('./types.js').WalletEvent} push
   * @returns {import('./types.js').WalletEvent}
   */
  #newest(push) {
    this.account.learn(push);
    const { balance, version, nextCommitment } = this.account;
    const older = push.account_version !== undefined && push.account_version < version;
    return older ? { ...push, balance, account_version: version, next_commitment: nextCommitment } : push;
  }

  /**
   * #read reads missing entries from history.
   * @param {string} room
   * @param {Hole} hole
   * @returns {Promise<Line[]>}
   */
  async #read(room, { after, through }) {
    try {
      const page = await this.#calls.ask('history', { room, after, limit: Math.min(through - after, pageLimit) });
      const states = byPacket(page.packet_states);
      return page.entries.map((/** @type {Entry} */ entry) => lineOf(entry, states));
    } catch {
      return []; // not retried: for example, the user is not a member any more, or the client has ended
    }
  }
}

/** @param {string} channel */
function roomOf(channel) {
  return channel.startsWith(channelPrefix) ? channel.slice(channelPrefix.length) : '';
}

/** @param {State[]} states */
function byPacket(states) {
  return new Map(states.map((state) => [state.packet, state]));
}

/**
 * entryOf decodes an entry as it was pushed. Data that is no entry still keeps its seq in the room.
 * @param {number} seq
 * @param {any} data
 * @returns {Entry}
 */
function entryOf(seq, data) {
  if (typeof data?.kind === 'string') return { ...data, seq };
  return { seq, id: '', at: 0, from: { id: '', name: '' }, kind: '', body: data };
}

/**
 * @param {Entry} entry
 * @param {Map<string, State>} states
 * @returns {Line}
 */
function lineOf(entry, states) {
  const state = entry.kind === 'packet' ? states.get(entry.body?.id) : undefined;
  return state ? { entry, state } : { entry };
}
