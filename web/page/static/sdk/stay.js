// A stay is the user's time in a room, from entering it until leaving it. It merges pushed entries, and missing ones
// from history, into one sequence without gaps.

/**
 * @typedef {import('./types.js').Entry} Entry
 * @typedef {import('./types.js').State} State
 * @typedef {{entry: Entry, state?: State}} Line  an entry, with the state of its packet
 * @typedef {{after: number, through: number, numbers: number}} Hole
 *   the entries after one seq, up to another, that were not pushed; numbers is Stay.numbers at that time
 * @typedef {{name: 'entry'|'entered'|'left'|'skipped', event: any}} StayEvent
 */

export class Stay {
  epoch = ''; // epoch of the room's seqs; '': not known yet
  numbers = 0; // how often the room was numbered anew
  /** @type {StayEvent[]} */
  events = []; // events to be published before any entry
  /** @type {Line[]} */
  ready = []; // entries with a seq after given and up to lastSeq, ascending; some may be missing
  reason = ''; // why the user is about to leave; '': not known
  left = false; // the user has left the room
  reading = false; // missing entries are being read
  behind = false; // the user's previous stay in the room has not ended yet
  /** @type {Stay|undefined} */
  then = undefined; // the user's next stay in the room, which began before this one had ended

  /**
   * @param {string} room
   * @param {number} from the last entry before it
   */
  constructor(room, from) {
    this.room = room;
    this.given = from; // seq of the last entry published
    this.lastSeq = from; // seq of the last entry known to exist
  }

  /**
   * describe gives the room to an event 'entered' that waits and has only its id.
   * @param {import('./types.js').Room} room
   */
  describe(room) {
    for (const { name, event } of this.events) {
      if (name === 'entered' && !event.room.kind) event.room = { ...room, last_seq: event.room.last_seq };
    }
  }

  /**
   * next returns the next event, if there is one. Missing entries must be read before the next entry.
   * @param {number} maxMissed
   * @returns {StayEvent|Hole|undefined}
   */
  next(maxMissed) {
    if (this.events.length > 0) return this.events.shift();
    const missing = this.missing();
    const size = missing.through - missing.after;
    if (size > maxMissed) return this.#skip(missing.through - maxMissed);
    if (size > 0) return missing;
    const line = this.ready.shift();
    if (line) {
      this.given = line.entry.seq;
      return { name: 'entry', event: { room: this.room, ...line } };
    }
    return this.left ? { name: 'left', event: { room: this.room, reason: this.reason } } : undefined;
  }

  /**
   * missing returns the entries that are missing before ready.
   * @returns {Hole}
   */
  missing() {
    const first = this.ready[0];
    return { after: this.given, through: first ? first.entry.seq - 1 : this.lastSeq, numbers: this.numbers };
  }

  /**
   * @param {number} through
   * @returns {StayEvent} that that the entries up to a seq are given up
   */
  #skip(through) {
    const after = this.given;
    this.given = through;
    return { name: 'skipped', event: { room: this.room, after, through } };
  }

  /**
   * push adds an entry, unless it is known already. Above limit the entries are dropped and later read from history.
   * @param {Line} line
   * @param {number} limit
   */
  push(line, limit) {
    if (line.entry.seq <= this.lastSeq) return;
    this.lastSeq = line.entry.seq;
    if (this.ready.length >= limit) {
      this.ready = [];
      return;
    }
    this.ready.push(line);
  }

  /**
   * fill adds entries from history before ready. Entries that history does not have are given up.
   * @param {Hole} asked
   * @param {Line[]} lines
   */
  fill(asked, lines) {
    if (asked.numbers !== this.numbers) return; // the entries may be of the numbering before
    const missing = this.missing();
    const fitting = lines.filter(({ entry }) => entry.seq > missing.after && entry.seq <= missing.through);
    const first = fitting[0]?.entry.seq ?? Math.min(asked.through, missing.through) + 1;
    if (first > missing.after + 1) this.events.push(this.#skip(first - 1));
    this.ready.unshift(...fitting);
  }

  /**
   * reach says that the room is live from a position on.
   * @param {string} epoch
   * @param {number} position
   * @param {boolean} recovered the missing entries up to there are pushed
   */
  reach(epoch, position, recovered) {
    if ((this.epoch !== '' && this.epoch !== epoch) || position < this.lastSeq) {
      this.ready = [];
      this.given = this.lastSeq = position;
      this.numbers++;
      this.events.push({ name: 'skipped', event: { room: this.room, after: 0, through: position } });
    } else if (!recovered) {
      this.lastSeq = position;
    }
    this.epoch = epoch;
  }
}
