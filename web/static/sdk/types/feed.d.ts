export class Feed {
    /** @param {FeedOptions} options */
    constructor(options: FeedOptions);
    /** stop ends the feed: nothing more is published. */
    stop(): void;
    /** rooms returns the rooms that the user is in. */
    rooms(): string[];
    /**
     * staying returns the stay in a room that the user is in.
     * @param {string} room
     */
    staying(room: string): Stay | undefined;
    /**
     * enter begins a stay at the room's present end, unless there is one already.
     * @param {Room} room
     * @param {boolean} tell whether to publish the event
     */
    enter(room: Room, tell: boolean): void;
    /**
     * reach says that the room is live from a position on.
     * @param {string} room
     * @param {string} epoch
     * @param {number} position
     * @param {boolean} recovered
     */
    reach(room: string, epoch: string, position: number, recovered: boolean): void;
    /**
     * push adds an entry to its room.
     * @param {string} room
     * @param {Line} line
     */
    push(room: string, line: Line): void;
    /**
     * willLeave stores the reason why the stay is about to end.
     * @param {string} room
     * @param {string} reason
     */
    willLeave(room: string, reason: string): void;
    /**
     * leave ends a stay. Its queued entries are published first.
     * @param {string} room
     */
    leave(room: string): void;
    #private;
}
export type Room = import("./types.js").Room;
export type Line = import("./stay.js").Line;
export type Hole = import("./stay.js").Hole;
export type FeedOptions = {
    queueLimit: number;
    maxMissed: number;
    tell: (name: any, event: any) => void;
    /**
     * a page of history; [] when a retry is useless
     */
    read: (room: string, hole: Hole) => Promise<Line[]>;
};
import { Stay } from './stay.js';
