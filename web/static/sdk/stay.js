// A stay is somebody's time in a room, from when he came in until he is out. It turns what is pushed, and what
// history has of the rest, into one unbroken line.

/**
 * @typedef {import('./types.js').Entry} Entry
 * @typedef {import('./types.js').State} State
 * @typedef {{entry: Entry, state?: State}} Line  an entry, and how its packet stands
 * @typedef {{after: number, through: number}} Hole  the entries after one, up to another, which were not pushed
 * @typedef {{name: 'entry'|'entered'|'left'|'skipped', event: any}} Told
 */

export class Stay {
  epoch = ''; // of the room's numbers; '': not told yet
  /** @type {Told[]} */
  told = []; // to be given before any entry
  /** @type {Line[]} */
  ready = []; // ascending, after given, at most known; there may be holes before and between
  reason = ''; // why he is about to be out
  left = false; // he is out
  reading = false; // a hole is being filled
  behind = false; // the stay before it is not given to its end
  /** @type {Stay|undefined} */
  then = undefined; // that began before this one was given to its end

  /**
   * @param {string} room
   * @param {number} from the last entry before it
   */
  constructor(room, from) {
    this.room = room;
    this.given = from; // the last entry given
    this.known = from; // the last entry that there is
  }

  /**
   * next takes what comes next, if there is anything. A hole must be filled before there is more.
   * @param {number} maxMissed
   * @returns {Told|Hole|undefined}
   */
  next(maxMissed) {
    if (this.told.length > 0) return this.told.shift();
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
   * missing is the hole before what is ready.
   * @returns {Hole}
   */
  missing() {
    const first = this.ready[0];
    return { after: this.given, through: first ? first.entry.seq - 1 : this.known };
  }

  /**
   * @param {number} through
   * @returns {Told} that the entries up to a seq are given up
   */
  #skip(through) {
    const after = this.given;
    this.given = through;
    return { name: 'skipped', event: { room: this.room, after, through } };
  }

  /**
   * push adds an entry, unless it is there already. More than limit wait in history.
   * @param {Line} line
   * @param {number} limit
   */
  push(line, limit) {
    if (line.entry.seq <= this.known) return;
    this.known = line.entry.seq;
    if (this.ready.length >= limit) {
      this.ready = [];
      return;
    }
    this.ready.push(line);
  }

  /**
   * fill puts what history has of a hole before what is ready. What it does not have is given up.
   * @param {Hole} asked
   * @param {Line[]} lines
   */
  fill(asked, lines) {
    const missing = this.missing();
    if (missing.after !== asked.after) return; // the room has been numbered anew
    const fitting = lines.filter(({ entry }) => entry.seq > missing.after && entry.seq <= missing.through);
    const first = fitting[0]?.entry.seq ?? missing.through + 1;
    if (first > missing.after + 1) this.told.push(this.#skip(first - 1));
    this.ready.unshift(...fitting);
  }

  /**
   * reach says that the room is live from a position on.
   * @param {string} epoch
   * @param {number} position
   * @param {boolean} recovered what is missing up to there follows by itself
   */
  reach(epoch, position, recovered) {
    if ((this.epoch !== '' && this.epoch !== epoch) || position < this.known) {
      this.ready = [];
      this.given = this.known = position;
      this.told.push({ name: 'skipped', event: { room: this.room, after: 0, through: position } });
    } else if (!recovered) {
      this.known = position;
    }
    this.epoch = epoch;
  }
}
