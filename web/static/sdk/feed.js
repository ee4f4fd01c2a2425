// What happens in the rooms, each told in its own order. Holes are read from history, a few rooms at a time;
// other rooms go on meanwhile.

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
 * @property {(room: string, hole: Hole) => Promise<Line[]>} read  a page of history; [] when nothing is got by waiting
 */

const readers = 4;

export class Feed {
  /** @type {Map<string, Stay>} */
  #stays = new Map(); // the newest of each room
  /** @type {Stay[]} */
  #holes = []; // those that wait for history
  #reading = 0;
  #stopped = false;
  #o;

  /** @param {FeedOptions} options */
  constructor(options) {
    this.#o = options;
  }

  /** stop ends it: nothing more is told. */
  stop() {
    this.#stopped = true;
  }

  /** rooms are those that one is in. */
  rooms() {
    return [...this.#stays.keys()].filter((room) => this.staying(room));
  }

  /**
   * staying is the stay in a room that one is in.
   * @param {string} room
   */
  staying(room) {
    const stay = this.#stays.get(room);
    return stay && !stay.left ? stay : undefined;
  }

  /**
   * enter begins a stay where the room is now, unless one is in it already.
   * @param {Room} room
   * @param {boolean} tell it is an event
   */
  enter(room, tell) {
    const before = this.#stays.get(room.id);
    if (before && !before.left) {
      before.reason = ''; // he has come back before he was out
      return;
    }
    if (before?.behind) { // nobody has heard of that stay: this one goes on with it
      before.left = false;
      before.reason = '';
      return;
    }
    const stay = new Stay(room.id, room.last_seq);
    if (tell) stay.told.push({ name: 'entered', event: { room } });
    this.#stays.set(room.id, stay);
    if (before) {
      before.then = stay;
      stay.behind = true;
    }
    this.#go(stay);
  }

  /**
   * reach says from where on a room is live.
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
   * willLeave notes why the stay is about to end.
   * @param {string} room
   * @param {string} reason
   */
  willLeave(room, reason) {
    const stay = this.staying(room);
    if (stay) stay.reason = reason;
  }

  /**
   * leave ends a stay. What is there is told first.
   * @param {string} room
   */
  leave(room) {
    const stay = this.staying(room);
    if (stay) stay.left = true;
    this.#go(stay);
  }

  /**
   * #go tells what there is to tell of a stay.
   * @param {Stay|undefined} stay
   */
  #go(stay) {
    while (stay && !this.#stopped && !stay.reading && !stay.behind) {
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
