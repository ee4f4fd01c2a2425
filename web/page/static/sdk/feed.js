// The events of the rooms, each room in its own order. Missing entries are read from history, a few rooms at a time,
// while other rooms continue.

import { Stay } from './stay.js';

/**
 * @typedef {import('./types.js').Room} Room
 * @typedef {import('./stay.js').Line} Line
 * @typedef {import('./stay.js').Hole} Hole
 *
 * @typedef {object} FeedOptions
 * @property {number} queueLimit
 * @property {number} maxMissed
 * @property {(name: any, event: any) => void} tell
 * @property {(room: string, hole: Hole) => Promise<Line[]>} read  a page of history; [] when a retry is useless
 */

const readers = 4;

export class Feed {
  /** @type {Map<string, Stay>} */
  #stays = new Map(); // by room: the user's newest stay in it
  /** @type {Stay[]} */
  #holes = []; // stays that wait for entries from history
  #reading = 0;
  #stopped = false;
  #held = false;
  #o;

  /** @param {FeedOptions} options */
  constructor(options) {
    this.#o = options;
  }

  /** stop ends the feed: nothing more is published. */
  stop() {
    this.#stopped = true;
  }

  /** hold publishes nothing until release is called. Of each room at most queueLimit entries wait; more are read again. */
  hold() {
    this.#held = true;
  }

  /**
   * release publishes what has waited. Events 'entered' get the room as it is known by now.
   * @param {Room[]} rooms
   */
  release(rooms) {
    this.#held = false;
    for (const room of rooms) this.#stays.get(room.id)?.describe(room);
    for (const stay of [...this.#stays.values()]) this.#go(stay);
  }

  /** rooms returns the rooms that the user is in. */
  rooms() {
    return [...this.#stays.keys()].filter((room) => this.staying(room));
  }

  /**
   * staying returns the stay in a room that the user is in.
   * @param {string} room
   */
  staying(room) {
    const stay = this.#stays.get(room);
    return stay && !stay.left ? stay : undefined;
  }

  /**
   * enter begins a stay at the room's present end, unless there is one already.
   * @param {Room} room
   * @param {boolean} tell whether to publish the event
   */
  enter(room, tell) {
    const before = this.#stays.get(room.id);
    if (before && !before.left) {
      before.reason = ''; // the user came back before the old stay ended
      return;
    }
    if (before?.behind) { // no entry of the old stay was published: it continues
      before.left = false;
      before.reason = '';
      return;
    }
    const stay = new Stay(room.id, room.last_seq);
    if (tell) stay.events.push({ name: 'entered', event: { room } });
    this.#stays.set(room.id, stay);
    if (before) {
      before.then = stay;
      stay.behind = true;
    }
    this.#go(stay);
  }

  /**
   * reach says that the room is live from a position on.
   * @param {string} room
   * @param {string} epoch
   * @param {number} position
   * @param {boolean} recovered
   */
  reach(room, epoch, position, recovered) {
    const stay = this.staying(room);
    stay?.reach(epoch, position, recovered);
    this.#go(stay);
  }

  /**
   * push adds an entry to its room.
   * @param {string} room
   * @param {Line} line
   */
  push(room, line) {
    const stay = this.staying(room);
    stay?.push(line, this.#o.queueLimit);
    this.#go(stay);
  }

  /**
   * willLeave stores the reason why the stay is about to end.
   * @param {string} room
   * @param {string} reason
   */
  willLeave(room, reason) {
    const stay = this.staying(room);
    if (stay) stay.reason = reason;
  }

  /**
   * leave ends a stay. Its queued entries are published first.
   * @param {string} room
   */
  leave(room) {
    const stay = this.staying(room);
    if (stay) stay.left = true;
    this.#go(stay);
  }

  /**
   * #go publishes what a stay has queued.
   * @param {Stay|undefined} stay
   */
  #go(stay) {
    while (stay && !this.#stopped && !this.#held && !stay.reading && !stay.behind) {
      const next = stay.next(this.#o.maxMissed);
      if (!next) return;
      if (!('name' in next)) {
        stay.reading = true;
        this.#holes.push(stay);
        this.#readSome();
        return;
      }
      if (next.name === 'left') this.#end(stay);
      this.#o.tell(next.name, next.event);
      if (next.name === 'left') stay = stay.then;
    }
  }

  /** @param {Stay} stay */
  #end(stay) {
    if (this.#stays.get(stay.room) === stay) this.#stays.delete(stay.room);
    if (stay.then) stay.then.behind = false;
  }

  #readSome() {
    while (this.#reading < readers) {
      const stay = this.#holes.shift();
      if (!stay) return;
      this.#reading++;
      void this.#fill(stay);
    }
  }

  /** @param {Stay} stay */
  async #fill(stay) {
    const asked = stay.missing();
    const lines = await this.#o.read(stay.room, asked);
    stay.fill(asked, lines);
    stay.reading = false;
    this.#reading--;
    this.#go(stay);
    this.#readSome();
  }
}
