// Applies the client's events to the state. No other module listens to the client.
import { state, change, currentRoom, toast } from '../state.js';
import { money } from '../format.js';
import { t } from '../words.js';
import { append, emptyTimeline } from './timeline.js';
import { addRoom, dropRoom, noteRecall, setPrefs, setRooms } from './rooms.js';
import { tellNews } from './news.js';
import { noteMention } from './mentions.js';
import { forgetUnsent } from './kept.js';
import { drop, tidy } from './outbox.js';
import { setLink } from './link.js';
import { noteMember } from './members.js';
import { lastOpener, packetView, setGrabbed, setPacketState, setProgress } from './packets.js';
import { contactsChanged, loadContacts } from '../actions/contacts.js';
import { roomOfCode } from '../actions/invitation.js';
import { enterLobby } from '../actions/lobby.js';
import { loadNewest } from '../actions/history.js';
import { wantLast } from '../actions/lasts.js';
import { askPresence, learnUnread, namedUpTo } from '../actions/looking.js';
import { renewMentions } from '../actions/mentions.js';
import { learnOwn } from '../actions/packets.js';
import { sayUnsent } from '../actions/messages.js';
import { renewPush } from '../notifications.js';

const typingLasts = 4000;
const longest = 2 ** 31 - 1; // ms; the longest timer

/** @param {import('../../sdk/client.js').Client} client */
export function listen(client) {
  const on = (name, f) => client.on(name, (e) => change(() => f(e)));
  on('link', setLink);
  on('ready', ready);
  on('entry', entry);
  on('entered', (e) => addRoom(e.room));
  on('left', left);
  on('skipped', (e) => renew(state.rooms.get(e.room)));
  on('typing', typing);
  on('presence', presence);
  on('read', read);
  on('progress', progress);
  on('wallet', (e) => wallet(e, client.account.view()));
  on('memberCount', memberCount);
  on('contacts', contactsChanged);
  on('joinRequested', joinRequested);
  on('joinRefused', joinRefused);
  on('seedMismatch', () => toast(t('envelope.seedMismatch'), undefined, 60_000));
  on('roomPrefs', (e) => { if (state.rooms.has(e.room)) setPrefs(state.rooms.get(e.room), e); });
}

function joinRequested({ room, count }) {
  const view = state.rooms.get(room);
  if (!view) return;
  if (count > (view.asking ?? 0)) toast(t('requests.told', { room: view.room.name }));
  view.asking = count;
}

/** The view of the link says it, if it is open. */
function joinRefused({ room }) {
  state.refusedBy = room;
  if (!state.route.link || roomOfCode(state.route.link) !== room) toast(t('rooms.refused'));
}

function ready(e) {
  state.me = e.user;
  state.account = e.account;
  state.limits = e.limits;
  meet(e.user);
  const open = currentRoom();
  const before = state.saved ? new Map([...state.rooms].map(([id, view]) => [id, view.room.last_seq])) : null;
  state.saved = false;
  setRooms(e.rooms).forEach(learnUnread);
  if (before) renewSaved(before);
  if (open && !currentRoom()) toast(t('errors.not_member'));
  e.states.forEach(setPacketState);
  if (e.rooms.some((room) => room.unread)) renewMentions(); // for the number of those that are new
  if (e.again && state.contacts) loadContacts();
  sayUnsent();
  if (e.again && currentRoom()) askPresence(currentRoom().room.id);
  if (!e.again) renewPush();
  if (state.isNew) enterLobby();
}

/** What was shown from storage is read again. @param {Map<string, number>} before the last seqs that were known */
function renewSaved(before) {
  for (const [id, last] of before) {
    const view = state.rooms.get(id);
    if (!view) continue;
    if (view === currentRoom()) loadNewest(id);
    else view.timeline = emptyTimeline();
    if (view.room.last_seq !== last) wantLast(id, true);
  }
}

/** Stores a user. @param {import('../state.js').User} user */
export function meet(user) { state.people.set(user.id, user); }

/**
 * Records the sender; in a direct room that may be the other user, who has left it.
 * @param {import('../state.js').RoomView} view @param {import('../state.js').User} user
 */
export function meetIn(view, user) {
  meet(user);
  if (view.room.kind === 'direct' && user.id !== state.me.id) view.other ??= user;
}

function entry({ room, entry: e, state: packetState }) {
  const view = state.rooms.get(room);
  if (!view) return;
  meetIn(view, e.from);
  view.typing.delete(e.from.id);
  notePacket(e, packetState);
  if (e.kind === 'packet' && view === currentRoom()) packetView(e.body).cameAt = performance.now();
  noteOwn(view, e);
  if (!append(view.timeline, e, state.me.id)) renew(view);
  if (e.seq > view.room.last_seq) {
    view.room = { ...view.room, last_seq: e.seq };
    count(view, e);
  }
  if (e.seq > view.told) { // also what arrived during a reconnect: nothing else tells of it, because Web Push was silent
    view.told = e.seq;
    tellNews(view, e);
  }
  noteMention(room, e);
  noteRecall(view, e);
  if (e.kind === 'text' || e.kind === 'packet') said(view, e);
  if (e.kind === 'edit' || e.kind === 'recall') amendLast(view, e);
  if (e.kind === 'recall') {
    state.announcement = ''; // it may be the text that is gone now
    if (state.banner?.room === room && state.banner.seq === e.body.target) state.banner = null;
  }
  if (e.kind === 'room') view.room = { ...view.room, ...e.body };
  if (e.kind === 'member') member(view, e);
}

/** Stores the packets of an entry, live or from history. @param {any} e @param {any} [s] */
export function notePacket(e, s) {
  if (e.kind === 'packet') packetView(e.body).seq = e.seq;
  if (e.kind === 'packet_done') {
    setPacketState(e.body.state);
    const view = state.packets.get(e.body.packet);
    if (view) view.doneAt = e.at;
  }
  if (s) setPacketState(s);
}

/** Removes the user's own message from the outbox. @param {import('../state.js').RoomView} view @param {any} e */
export function noteOwn(view, e) {
  if (!e.key || e.from.id !== state.me.id) return;
  drop(view, e.key);
  forgetUnsent(e.key);
}

/** The end of the user's own mute, by the latest entry about it. @param {import('../state.js').RoomView} view @param {any} e */
export function noteMute(view, e) {
  if (e.kind !== 'member' || e.body.user !== state.me.id || e.seq <= (view.mute?.seq ?? 0)) return;
  if (e.body.change === 'muted') view.mute = { seq: e.seq, until: e.body.until ?? 0 };
  else if (e.body.role === 'owner') view.mute = { seq: e.seq, until: 0 }; // an owner is not muted, and no entry records that
  const left = (view.mute?.until ?? 0) - Date.now();
  if (left > 0 && left < longest) setTimeout(change, left + 50); // when the mute ends, the user may send again
}

function said(view, e) {
  if (view.last?.item?.seq > e.seq) return; // a newer entry was loaded before the missed ones arrived
  view.last = { at: e.at, item: e };
  if (view !== currentRoom() || e.from.id === state.me.id) return;
  const { name } = e.from;
  state.announcement = e.kind === 'packet' ? t('timeline.saidPacket', { name })
    : t('timeline.said', { name, text: e.body.text || t('timeline.attachment') });
}

/** The row in the list of rooms follows amendments of its last message. */
function amendLast(view, e) {
  const item = view.last?.item;
  if (item?.seq !== e.body.target) return;
  const body = e.kind === 'recall' ? { recalled: true, by: e.from } : { ...item.body, text: e.body.text, edited_at: e.at };
  if (!e.body.recalled) view.last = { ...view.last, item: { ...item, body } };
}

function member(view, e) {
  noteMember(view, e.body);
  noteMute(view, e);
  if (e.body.change === 'role' && e.body.user === state.me.id) view.room = { ...view.room, role: e.body.role };
}

function count(view, e) {
  if (e.kind !== 'text' && e.kind !== 'packet') return;
  if (view.prefs.archived && !view.prefs.silent) view.prefs = { ...view.prefs, archived: false };
  if (e.from.id === state.me.id) {
    view.readSeq = e.seq;
    view.unread = 0;
  } else if (e.seq > view.readSeq) { // false: another tab has already stored a later position
    view.unread++;
  }
}

function progress(p) {
  setProgress(p);
  const view = state.packets.get(p.packet);
  const name = view && view.state.status === 'open' && lastOpener(view);
  if (name && p.room === currentRoom()?.room.id) state.announcement = t('timeline.openedYours', { name });
}

/** A user that enters a room may have been online before; no event says so. */
function memberCount({ room, count }) {
  const view = state.rooms.get(room);
  if (!view) return;
  view.room = { ...view.room, members: count };
  if (view === currentRoom() && count <= namedUpTo) askPresence(room);
}

function left({ room, reason }) {
  const view = state.rooms.get(room);
  if (!view) return;
  if (reason === 'kicked' || reason === 'banned' || reason === 'deleted') toast(t(`rooms.out.${reason}`, { room: view.room.name }));
  dropRoom(room);
}

/** Entries are missing: drops the timeline, and loads it again if it is open. */
function renew(view) {
  if (!view) return;
  const { loaded, loading } = view.timeline;
  view.timeline = emptyTimeline();
  tidy(view);
  if (loaded || loading !== 'no') loadNewest(view.room.id);
  wantLast(view.room.id, true);
}

function typing({ room, user }) {
  const view = state.rooms.get(room);
  if (!view || user === state.me.id) return;
  view.typing.set(user, Date.now() + typingLasts);
  setTimeout(change, typingLasts + 50, () => {
    if ((view.typing.get(user) ?? 0) <= Date.now()) view.typing.delete(user);
  });
}

function presence({ room, user, online }) {
  const view = state.rooms.get(room);
  state.online.set(user, online);
  if (!view?.present) return;
  if (online) view.present.add(user);
  else view.present.delete(user);
  view.online = view.present.size;
}

/** The online members, as the server returns them. @param {string} room @param {{online: number, users?: string[]}} got */
export function setPresent(room, { online, users }) {
  const view = state.rooms.get(room);
  if (!view) return;
  for (const user of view.present ?? []) state.online.set(user, false);
  for (const user of users ?? []) state.online.set(user, true);
  view.present = users ? new Set(users) : null;
  view.online = online;
}

function read({ room, user, seq }) {
  const view = state.rooms.get(room);
  if (!view) return;
  view.readers.set(user, Math.max(seq, view.readers.get(user) ?? 0));
  if (user !== state.me.id || seq <= view.readSeq) return;
  view.readSeq = seq;
  if (seq >= view.room.last_seq) view.unread = 0;
  else learnUnread(room);
}

function wallet(e, account) {
  state.account = account;
  if (e.kind === 'claim') learnOwn(e.packet);
  if (e.kind === 'refund') toast(t('wallet.refunded', { amount: money(e.change) }));
}
