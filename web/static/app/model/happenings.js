// What the client tells, put into the state. Nothing else listens to the client.
import { state, change, toast } from '../state.js';
import { money } from '../format.js';
import { t } from '../words.js';
import { append, emptyTimeline } from './timeline.js';
import { addRoom, dropRoom, setRooms } from './rooms.js';
import { packetView, setGrabbed, setPacketState, setProgress } from './packets.js';
import { loadNewest } from '../actions/messages.js';

/** @param {import('../../sdk/client.js').Client} client */
export function listen(client) {
  const on = (name, f) => client.on(name, (e) => change(() => f(e)));
  on('link', (e) => { state.link = e; });
  on('ready', ready);
  on('entry', entry);
  on('entered', (e) => addRoom(e.room));
  on('left', left);
  on('skipped', skipped);
  on('typing', (e) => state.rooms.get(e.room)?.typing.set(e.user, Date.now() + 4000));
  on('presence', (e) => presence(e));
  on('read', read);
  on('progress', setProgress);
  on('grabResult', setGrabbed);
  on('wallet', (e) => { wallet(e); });
  on('memberCount', (e) => {
    const view = state.rooms.get(e.room);
    if (view) view.room = { ...view.room, members: e.count };
  });
}

function ready(e) {
  state.me = e.user;
  state.account = e.account;
  state.limits = e.limits;
  meet(e.user);
  setRooms(e.rooms);
  e.states.forEach(setPacketState);
}

/** Notes who somebody is. @param {import('../state.js').User} user */
export function meet(user) { state.people.set(user.id, user); }

function entry({ room, entry: e, state: packetState }) {
  const view = state.rooms.get(room);
  if (!view) return;
  meet(e.from);
  view.typing.delete(e.from.id);
  notePacket(e, packetState);
  append(view.timeline, e, state.me.id);
  if (e.seq > view.room.last_seq) {
    view.room = { ...view.room, last_seq: e.seq };
    count(view, e);
  }
  if (e.kind === 'text' || e.kind === 'packet') {
    view.last = { at: e.at, item: e };
    if (e.from.id === state.me.id) view.outbox = view.outbox.filter((s) => s.key !== e.key);
  }
  if (e.kind === 'room') view.room = { ...view.room, ...e.body };
  if (e.kind === 'member' && e.body.change === 'role' && e.body.user === state.me.id) view.room = { ...view.room, role: e.body.role };
}

/** Packets of an entry, live or from history. @param {any} e @param {any} [s] */
export function notePacket(e, s) {
  if (e.kind === 'packet') packetView(e.body);
  if (e.kind === 'packet_done') {
    setPacketState(e.body.state);
    const view = state.packets.get(e.body.packet);
    if (view) view.doneAt = e.at;
  }
  if (s) setPacketState(s);
}

function count(view, e) {
  if (e.kind !== 'text' && e.kind !== 'packet') return;
  if (e.from.id === state.me.id) {
    view.readSeq = e.seq;
    view.unread = 0;
  } else {
    view.unread++;
  }
}

function left({ room, reason }) {
  const view = state.rooms.get(room);
  if (!view) return;
  if (reason === 'kicked' || reason === 'banned' || reason === 'deleted') toast(t(`rooms.out.${reason}`, { room: view.room.name }));
  dropRoom(room);
}

function skipped({ room }) {
  const view = state.rooms.get(room);
  if (!view) return;
  const wasLoaded = view.timeline.loaded;
  view.timeline = emptyTimeline();
  if (wasLoaded) loadNewest(room);
}

function presence({ room, user, online }) {
  const view = state.rooms.get(room);
  if (view?.online != null && state.online.get(user) !== online) view.online += online ? 1 : -1;
  state.online.set(user, online);
}

function read({ room, user, seq }) {
  const view = state.rooms.get(room);
  if (!view) return;
  view.readers.set(user, Math.max(seq, view.readers.get(user) ?? 0));
  if (user !== state.me.id || seq <= view.readSeq) return;
  view.readSeq = seq;
  if (seq >= view.room.last_seq) view.unread = 0;
}

function wallet(e) {
  state.account = { ...state.account, balance: e.balance, nextCommitment: e.next_commitment };
  if (e.kind === 'refund') toast(t('wallet.refunded', { amount: money(e.change) }));
}
