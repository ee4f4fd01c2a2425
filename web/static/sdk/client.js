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
import { ClosedError } from './errors.js';
import { Feed } from './feed.js';
import { Link } from './link.js';
import { Listeners } from './listeners.js';
import { Methods } from './methods.js';
import { Packets } from './packets.js';

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
const pageLimit = 100; // the largest page that the server returns

/** Our events by the names of the server's messages. */
/** @type {Record<string, keyof Events>} */
const messages = {
  typing: 'typing', presence: 'presence', read: 'read', packet_progress: 'progress', wallet: 'wallet', grab_result: 'grabResult',
  members: 'memberCount', contacts: 'contacts', room_prefs: 'roomPrefs', join_requests: 'joinRequested',
  join_refused: 'joinRefused',
};

export class Client extends Methods {
  /** @type {User} */
  me = { id: '', name: '' };
  /** @type {Limits} */
  limits = {};
  account = new Account();
  #listeners = new Listeners();
  /** @type {Map<string, State>} */
  #states = new Map(); // states of the packets among the entries of the connect reply
  #ever = false; // has been connected at least once
  #link;
  #calls;
  #packets;
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
      tell: (/** @type {keyof Events} */ name, event) => this.#listeners.tell(name, event),
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
    this.#link.life.addEventListener('abort', () => this.#feed.stop());
    this.#calls = new Calls(this.#link, this.account);
    this.#packets = new Packets(this.#link, this.#calls, this.account);
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
   * the packet as given.
   * @param {import('./types.js').NewPacket} packet
   * @param {import('./types.js').CallOptions} [options]
   */
  sendPacket(packet, options) {
    return this.#packets.send(packet, options);
  }

  /**
   * grab grabs a share of a packet, and resolves when the outcome is certain. onPending is called if it takes long.
   * @param {string} packet
   * @param {string} [passphrase]
   * @param {import('./types.js').CallOptions & {onPending?: (reply: import('./types.js').GrabReply) => void}} [options]
   */
  grab(packet, passphrase, options) {
    return this.#packets.grab(packet, passphrase, options);
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
    this.#ever = true;
    this.me = data.user;
    this.limits = data.limits ?? {};
    this.#calls.frameBytes = this.limits.frame_bytes || this.#calls.frameBytes;
    this.account.connected(data);
    const states = data.packet_states ?? [];
    this.#states = byPacket(states);
    this.#listeners.tell('link', { state: 'connected', again });
    this.#listeners.tell('ready', {
      user: this.me, account: this.account.view(), limits: this.limits, rooms: data.rooms, states, again,
    });
    const is = new Set(data.rooms.map((/** @type {{id: string}} */ room) => room.id));
    for (const room of this.#feed.rooms()) {
      if (!is.has(room)) this.#feed.leave(room);
    }
    for (const room of data.rooms) this.#feed.enter(room, again);
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
      this.#feed.enter({ ...data?.room, id, last_seq: offset, read_seq: offset, unread: 0 }, true);
    }
    this.#feed.reach(id, epoch, offset, wasRecovering && recovered);
  }

  /** @param {Record<string, any>} data */
  #message(data) {
    const { left, grab_result: result } = data;
    if (left) { // the unsubscribe push of the room follows
      this.#feed.willLeave(left.room, left.reason);
      return;
    }
    const news = data.wallet ? { ...data, wallet: this.#newest(data.wallet) } : data;
    if (result) {
      this.account.learn(result);
      this.#packets.result(result);
    }
    for (const [name, event] of Object.entries(messages)) {
      if (news[name]) this.#listeners.tell(event, news[name]);
    }
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
