// The state of the page. All that is shown is a function of `state`. It changes only inside `change`, which draws the
// page again in the next frame. Data flows one way: events and answers -> model -> state -> views -> actions -> client.
import { emptyPages } from './model/pages.js';

/**
 * @typedef {import('../sdk/types.js').User} User
 * @typedef {import('../sdk/types.js').Room} Room
 * @typedef {import('../sdk/types.js').Packet} Packet
 * @typedef {import('../sdk/types.js').State} PacketState
 * @typedef {import('./model/timeline.js').Timeline} Timeline
 *
 * @typedef {object} RoomView           a room that the user is in
 * @property {Room} room                as last received
 * @property {number} newsSeq           the last entry that was examined for news; the connect reply may announce later ones
 * @property {number} readSeq           how far the user has read
 * @property {number} unread
 * @property {Line|null} last           the last message, for the list; null: not known
 * @property {Timeline} timeline
 * @property {Sending[]} outbox         sent, but not in the timeline yet
 * @property {Draft} draft
 * @property {import('./model/tray.js').Attached[]} tray  files for the next message; a reload loses them
 * @property {Map<string, number>} typing   by user: until when (ms)
 * @property {Map<string, number>} readers  how far other users have read
 * @property {number|null} online
 * @property {Set<string>|null} [present]  online users, in a room that publishes them
 * @property {{seq: number, until: number}} [mute]  the user's own mute, and the seq of its entry
 * @property {number|null} [goal]       the entry that is to be shown
 * @property {number} [from]             the reply from which the user has gone to its quote
 * @property {number} [asking]          how many users ask to enter, as last told; only the owner and admins are
 * @property {import('../sdk/types.js').RoomPrefs} prefs  what the user has decided about it
 * @property {Set<number>} unfolded      long messages that are shown in full, by seq
 * @property {Set<number>} unhidden      messages of blocked people that the user wants to see, by seq
 * @property {Map<number, User>} recalls  by the seq of a recalled message: who has recalled it, as far as known
 * @property {Map<string, import('./model/pages.js').Pages<import('./model/timeline.js').Item>>} media  texts with files, by the kind of the files: see model/media.js
 * @property {Map<string, import('./model/pages.js').Pages<string>>} packets  ids of its red packets, by part: see model/room-packets.js
 * @property {User|null} other           the other user of a direct room
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
 * @property {Record<string, string>} [mentions]  users picked from the list, by name
 * @property {string} [before]          the draft from before the user began to edit another message
 * @property {number} [again]           the seq of a message that was taken back and is written again
 *
 * @typedef {object} Sending
 * @property {string} key
 * @property {'text'|'packet'} kind
 * @property {number} at
 * @property {'sending'|'failed'} status
 * @property {any} request              as given to the client, so that it can be sent again
 * @property {unknown} [error]
 * @property {number} [seq]             the seq of its entry, once the server has answered
 * @property {import('./model/tray.js').Attached[]} [files]  to be uploaded first
 * @property {number} [progress]        of the upload, 0 to 1
 * @property {AbortController} [upload] ends it
 * @property {boolean} [kept]            a reload does not lose the files
 *
 * @typedef {object} PacketView
 * @property {Packet} packet
 * @property {PacketState} state
 * @property {number|null} seq          of its entry, if known
 * @property {boolean} offered          the user was a member before it was sent
 * @property {boolean} thanked          the user has thanked in words since the page was loaded
 * @property {string[]} latest          users that claimed last
 * @property {number} cameAt           when it was pushed into the open room, by the page's clock; -Infinity: it was not
 * @property {number|null} doneAt       when the last share was claimed, if known
 * @property {'no'|'asking'} grab
 * @property {'won'|'already'|'empty'|'expired'|'entered'|'missed'|null} answer   the result of the last grab
 * @property {any} refusal              the error of the last grab
 * @property {number[]} wrongTries      when the user has entered wrong passphrases
 * @property {'envelope'|'details'|null} stage   which view of it is open; null: none
 * @property {ClaimList|null} claims    the claims read so far
 * @property {{amount: number, rank: number, at: number}|null} won  the share of a draw whose end may not be told yet
 * @property {PacketState|null} ending  the end of a draw, until it is known whether the user has won
 * @property {boolean} veiled           the envelope of a draw is open on this page and has not told the end
 * @property {'good'|'bad'|'unavailable'|null} receiptIs  what checking the receipt of the last grab has found
 * @property {import('../sdk/types.js').Receipt[]} receipts  of a rain: the user's, one for each wave, by wave
 * @property {number} waveUntil         of a rain: until when users can enter its wave, by the page's clock
 * @property {number} told              of a rain: the last wave whose result was pushed; 0: none
 * @property {string} phrase            of a rain: the passphrase as typed
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
 * @property {import('../sdk/types.js').Totals|null} totals
 * @property {boolean} earlier          there are packets in earlier years
 *
 * @typedef {object} PageFacts          what the server says before the user signs in
 * @property {boolean} guests
 * @property {boolean} [pictures]       users may upload pictures
 * @property {boolean} [play_money]     all money of the server is play money
 * @property {{room: string, packet?: string}} [lobby]  where newcomers go, and the newest packet there
 * @property {string[]} hosts
 * @property {string} version
 *
 * @typedef {object} Invitation
 * @property {string} code              of the invite link
 * @property {import('../sdk/types.js').LinkPreview|null} preview
 * @property {any} error
 * @property {boolean} accepted         the user has seen it and then signed in
 *
 * @typedef {object} Toast              a short note
 * @property {number} id
 * @property {string} text
 * @property {{label: string, run: () => void}} [act]  what the user may do about it
 *
 * @typedef {object} Sheet              the sheet over or beside the room
 * @property {string} name              a row of views/sheets.js
 * @property {string} [id]
 */

export const state = {
  lang: 'en',
  /** @type {'auto'|'light'|'dark'} */ theme: 'auto',
  sound: false,
  notify: false, // notifications of the system
  push: /** @type {''|'on'|'disabled'|'browser'|'failed'} */ (''), // whether they come while the page is closed, or why not; '': not known
  wide: false, // three columns
  /** @type {PageFacts|null} */ page: null,
  /** @type {'guest'|'host'|'token'|null} */ by: null, // how the user has signed in
  isNew: false, // a guest that was just made, and is on the way to the lobby
  /** @type {{status: 'loading'|'arriving'|'open'|'entering'|'ended', error: unknown}} */ door: { status: 'loading', error: null },
  /** @type {User|null} */ me: null,
  saved: false, // what is shown was kept in this browser; the server has not answered yet
  /** @type {import('../sdk/types.js').AccountView} */
  account: { balance: 0, version: 0, currency: { code: 'CNY', exponent: 2 }, nextCommitment: '' },
  /** @type {import('../sdk/types.js').Limits|null} */ limits: null,
  /** @type {{state: 'connecting'|'connected'|'closed', again: boolean, code?: number, reason?: string}} */
  link: { state: 'connecting', again: false },
  /** @type {'no'|'connecting'|'again'|'offline'|'well'} */ notice: 'no', // the state of the connection that is shown
  /** @type {Map<string, RoomView>} */ rooms: new Map(),
  /** @type {Map<string, User>} */ people: new Map(),
  /** @type {Map<string, boolean>} */ online: new Map(),
  /** @type {Map<string, PacketView>} */ packets: new Map(),
  /** @type {import('./model/pages.js').Pages<import('../sdk/types.js').Transfer>} */ wallet: emptyPages(), dayLimits: null,
  /** @type {import('../sdk/types.js').DayLimits|null} */ dayLimits: null, // null: not read yet
  /** @type {{year: number, direction: 'sent'|'received', views: Map<string, YearView>}} */
  years: { year: new Date().getFullYear(), direction: 'received', views: new Map() },
  /** @type {{room: string|null, link: string|null, sheet: Sheet|null}} */ route: { room: null, link: null, sheet: null }, // link: the code of an invite link
  /** @type {Invitation|null} */ invitation: null, // what the last opened invite link leads to
  /** @type {Toast[]} */ toasts: [],
  refusedBy: '', // the room whose owner or admin has last dropped the user's request to enter
  /** Reports of the user and decisions about the user. @type {Record<'reported'|'reporter', {items: import('../sdk/types.js').ReportDecidedEvent[], next?: string}>|null} */ reports: null, // null: not read yet
  /** @type {import('../sdk/types.js').ContactsReply|null} */ contacts: null, // null: not read yet
  /** @type {string[]|null} */ blockedBefore: null, // ids of blocked users, as this browser has kept them; null: it has none
  /** @type {import('./model/news.js').News|null} */ banner: null,
  /** @type {import('./model/pages.js').Pages<import('./model/mentions.js').Mention>} */ mentions: emptyPages(),
  /** @type {Map<string, import('./model/search.js').Search>} */ searches: new Map(), // by room; '': in all rooms
  announcement: '', // text that screen readers read aloud
  /** @type {{packet: string, balance: number}|null} */ sealed: null, // the packet whose envelope is being opened, and the balance before
};

/** Forgets all that is shown of the user: another one follows. */
export function forgetUser() {
  Object.assign(state, {
    me: null, saved: false, isNew: false, limits: null, reports: null, contacts: null, blockedBefore: null, banner: null, sealed: null, mentions: emptyPages(), wallet: emptyPages(),
    account: { balance: 0, version: 0, currency: state.account.currency, nextCommitment: '' },
  });
  for (const map of [state.rooms, state.people, state.online, state.packets, state.years.views, state.searches]) map.clear();
}

let draw = () => {};
let scheduled = false;

/** @param {() => void} f draws the page; called at most once a frame */
export function drawWith(f) { draw = f; }

const patience = 1000; // ms without a frame after which the page counts as hidden; its title is still updated

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

/** The room that is open. */
export function currentRoom() {
  return state.route.room === null ? undefined : state.rooms.get(state.route.room);
}

let toasts = 0;

/**
 * Shows a short note. It returns a function that takes the note away.
 * @param {string} text @param {Toast['act']} [act] @param {number} [time] ms
 */
export function toast(text, act, time = 4000) {
  const id = ++toasts;
  const gone = () => change(() => { state.toasts = state.toasts.filter((t) => t.id !== id); });
  change(() => { state.toasts = [...state.toasts.slice(-2), { id, text, act }]; state.announcement = text; });
  setTimeout(gone, time);
  return gone;
}
