/**
 * @typedef {import('./types.js').Entry} Entry
 * @typedef {import('./types.js').State} State
 * @typedef {{entry: Entry, state?: State}} Line  an entry, with the state of its packet
 * @typedef {{after: number, through: number}} Hole  the entries after one seq, up to another, that were not pushed
 * @typedef {{name: 'entry'|'entered'|'left'|'skipped', event: any}} Told
 */
export class Stay {
    /**
     * @param {string} room
     * @param {number} from the last entry before it
     */
    constructor(room: string, from: number);
    epoch: string;
    /** @type {Told[]} */
    told: Told[];
    /** @type {Line[]} */
    ready: Line[];
    reason: string;
    left: boolean;
    reading: boolean;
    behind: boolean;
    /** @type {Stay|undefined} */
    then: Stay | undefined;
    room: string;
    given: number;
    known: number;
    /**
     * next returns the next event, if there is one. Missing entries must be read before the next entry.
     * @param {number} maxMissed
     * @returns {Told|Hole|undefined}
     */
    next(maxMissed: number): Told | Hole | undefined;
    /**
     * missing returns the entries that are missing before ready.
     * @returns {Hole}
     */
    missing(): Hole;
    /**
     * push adds an entry, unless it is known already. Above limit the entries are dropped and later read from history.
     * @param {Line} line
     * @param {number} limit
     */
    push(line: Line, limit: number): void;
    /**
     * fill adds entries from history before ready. Entries that history does not have are given up.
     * @param {Hole} asked
     * @param {Line[]} lines
     */
    fill(asked: Hole, lines: Line[]): void;
    /**
     * reach says that the room is live from a position on.
     * @param {string} epoch
     * @param {number} position
     * @param {boolean} recovered the missing entries up to there are pushed
     */
    reach(epoch: string, position: number, recovered: boolean): void;
    #private;
}
export type Entry = import("./types.js").Entry;
export type State = import("./types.js").State;
/**
 * an entry, with the state of its packet
 */
export type Line = {
    entry: Entry;
    state?: State;
};
/**
 * the entries after one seq, up to another, that were not pushed
 */
export type Hole = {
    after: number;
    through: number;
};
export type Told = {
    name: "entry" | "entered" | "left" | "skipped";
    event: any;
};
