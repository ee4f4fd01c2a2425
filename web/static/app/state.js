// What the page knows. Everything shown is a function of `state`; it changes only inside `change`, which has the page drawn
// again in the next frame. Data goes one way: events and answers -> model -> state -> views -> actions -> client.
import { emptyPages } from './model/pages.js';

/**
 * @typedef {import('../sdk/types.js').User} User
 * @typedef {import('../sdk/types.js').Room} Room
 * @typedef {import('../sdk/types.js').Packet} Packet
 * @typedef {import('../sdk/types.js').State} PacketState
 * @typedef {import('./model/timeline.js').Timeline} Timeline
 *
 * @typedef {object} RoomView           a room that one is in
 * @property {Room} room                as last told
 * @property {number} readSeq           how far one has read
 * @property {number} unread
 * @property {Line|null} last           the last thing said, for the list; null: not known
 * @property {Timeline} timeline
 * @property {Sending[]} outbox         what one has sent and is not in the timeline yet
 * @property {Draft} draft
 * @property {Map<string, number>} typing   who, until when (ms)
 * @property {Map<string, number>} readers  how far others have read
 * @property {number|null} online
 * @property {Set<string>|null} [present]  who is, in a room where that is told
 * @property {{seq: number, until: number}} [mute]  one's own, since which entry
 * @property {number|null} [goal]       the entry that is to be shown
 * @property {User|null} other           of a direct room
 * @property {import('./model/pages.js').Pages<Member>} members
 *
 * @typedef {import('../sdk/types.js').Member} Member
 *
 * @typedef {object} Line
 * @property {number} at
 * @property {import('./model/timeline.js').Item|null} item
 *
 * @typedef {object} Draft
 * @property {string} text
 * @property {number|null} replyTo      seq
 * @property {number|null} editing      seq
 * @property {Record<string, string>} [mentions]  who was picked from the list, by name
 * @property {string} [before]          what was being written before one began to change another line
 *
 * @typedef {object} Sending
 * @property {string} key
 * @property {'text'|'packet'} kind
 * @property {number} at
 * @property {'sending'|'failed'} status
 * @property {any} request              as given to the client, so that it can be sent again
 * @property {unknown} [error]
 * @property {number} [seq]             where it stands, when the server has said so
 *
 * @typedef {object} PacketView
 * @property {Packet} packet
 * @property {PacketState} state
 * @property {string[]} latest          who has opened it last
 * @property {number|null} doneAt       when the last share went, where known
 * @property {'no'|'asking'|'pending'} grab
 * @property {'won'|'already'|'empty'|'expired'|null} answer   what the last grab came to
 * @property {any} refusal              why the last grab was not answered
 * @property {number[]} wrongTries      when one has given a wrong passphrase
 * @property {'envelope'|'details'|null} stage   what of it is looked at; null: not looked at
 * @property {ClaimList|null} claims    who got what, as far as it was read
 *
 * @typedef {object} ClaimList
 * @property {import('../sdk/types.js').Claim[]} all   by rank, from 1 without gaps
 * @property {boolean} more
 * @property {import('../sdk/types.js').Proof|null} proof
 * @property {boolean} loading
 * @property {unknown} error
 *
 * @typedef {object} YearView           red packets of a year and direction
 * @property {import('./model/pages.js').Pages<{packet: Packet, state: PacketState}>} pages
 * @property {{count: number, amount: number, luckiest: number}|null} totals
 * @property {boolean} earlier          there are some in the years before
 *
 * @typedef {object} Sheet              what lies over or beside the room
 * @property {string} name              a row of views/sheets.js
 * @property {string} [id]
 */

export const state = {
  lang: 'en',
  /** @type {'auto'|'light'|'dark'} */ theme: 'auto',
  sound: false,
  wide: false, // three columns
  /** @type {{guests: boolean, hosts: string[], version: string}|null} */ page: null,
  /** @type {'guest'|'host'|'token'|null} */ by: null, // how one has come in
  /** @type {{status: 'loading'|'open'|'entering'|'ended', error: unknown}} */ door: { status: 'loading', error: null },
  /** @type {User|null} */ me: null,
  /** @type {{balance: number, currency: {code: string, exponent: number}, nextCommitment: string}} */
  account: { balance: 0, currency: { code: 'CNY', exponent: 2 }, nextCommitment: '' },
  /** @type {import('../sdk/types.js').Limits|null} */ limits: null,
  /** @type {{state: 'connecting'|'connected'|'closed', again: boolean, code?: number, reason?: string}} */
  link: { state: 'connecting', again: false },
  /** @type {'no'|'connecting'|'again'|'offline'|'well'} */ notice: 'no', // what is told of it
  /** @type {Map<string, RoomView>} */ rooms: new Map(),
  /** @type {Map<string, User>} */ people: new Map(),
  /** @type {Map<string, boolean>} */ online: new Map(),
  /** @type {Map<string, PacketView>} */ packets: new Map(),
  /** @type {import('./model/pages.js').Pages<import('../sdk/types.js').Transfer>} */ wallet: emptyPages(),
  /** @type {{year: number, direction: 'sent'|'received', views: Map<string, YearView>}} */
  years: { year: new Date().getFullYear(), direction: 'received', views: new Map() },
  /** @type {{room: string|null, sheet: Sheet|null}} */ route: { room: null, sheet: null },
  /** @type {{id: number, text: string}[]} */ toasts: [],
  announcement: '', // said by screen readers
};

let draw = () => {};
let scheduled = false;

/** @param {() => void} f draws the page; called at most once a frame */
export function drawWith(f) { draw = f; }

const patience = 1000; // ms without a frame: nobody sees the page, but its title

/** @param {() => void} [f] changes the state */
export function change(f) {
  f?.();
  if (scheduled) return;
  scheduled = true;
  const redraw = () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    scheduled = false;
    draw();
  };
  const frame = requestAnimationFrame(redraw);
  const timer = setTimeout(redraw, patience);
}

/** Room that is looked at. */
export function currentRoom() {
  return state.route.room === null ? undefined : state.rooms.get(state.route.room);
}

let toasts = 0;

/** Says something in passing. @param {string} text */
export function toast(text) {
  const id = ++toasts;
  change(() => { state.toasts = [...state.toasts.slice(-2), { id, text }]; state.announcement = text; });
  setTimeout(() => change(() => { state.toasts = state.toasts.filter((t) => t.id !== id); }), 4000);
}
