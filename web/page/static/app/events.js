// Applies the client's events to the model, and has actions read what the events leave out. No other module listens to events of rooms.
import { state, change, currentRoom, toast } from './state.js';
import { money } from './format.js';
import { openSheet } from './route.js';
import { t } from './words.js';
import { append, emptyTimeline } from './model/timeline.js';
import { blockedIds, isHidden } from './model/blocked.js';
import { filesInWords } from './model/files.js';
import { addRoom, dropRoom, noteRecall, setPrefs, setRooms } from './model/rooms.js';
import { noteMention } from './model/mentions.js';
import { noteHits } from './model/search.js';
import { noteMedia } from './model/media.js';
import { dropArrived, noteOwn } from './model/outbox.js';
import { setLink } from './model/link.js';
import { isDraw } from './model/draws.js';
import { noteMember, noteMute } from './model/members.js';
import { lastOpener, notePacket, noteWon, packetView, setPacketState, setProgress } from './model/packets.js';
import { meet, meetIn } from './model/people.js';
import { isRaining } from './model/rain.js';
import { blockedKnown, contactsChanged, loadContacts } from './actions/contacts.js';
import { roomOfCode } from './actions/invitation.js';
import { enterLobby } from './actions/lobby.js';
import { loadNewest } from './actions/history.js';
import { wantLast } from './actions/lasts.js';
import { endDraw, tellEnd } from './actions/draws.js';
import { askPresence, learnUnread, namedUpTo, openLast } from './actions/looking.js';
import { renewMentions } from './actions/mentions.js';
import { tellNews } from './actions/news.js';
import { awaitSilenceEnd } from './actions/prefs.js';
import { askRain, endRain, wave } from './actions/rain.js';
import { renewReport } from './actions/reports.js';
import { learnOwn } from './actions/packets.js';
import { sayUnsent } from './actions/messages.js';
import { wantSkipped, wantWaiting } from './actions/waiting.js';
import { renewPush } from './notifications.js';

const typingLasts = 4000;

/** @param {import('../sdk/client.js').Client} client */
export function listen(client) {
  const on = (name, f) => client.on(name, (e) => change(() => f(e)));
  on('link', setLink);
  on('ready', ready);
  on('entry', entry);
  on('entered', entered);
  on('left', left);
  on('skipped', skipped);
  on('typing', typing);
  on('presence', presence);
  on('read', read);
  on('progress', progress);
  on('wave', wave);
  on('wallet', (e) => wallet(e, client.account.view()));
  on('memberCount', memberCount);
  on('contacts', contactsChanged);
  on('joinRequested', joinRequested);
  on('joinRefused', joinRefused);
  on('reportDecided', reportDecided);
  on('seedMismatch', () => toast(t('envelope.seedMismatch'), undefined, 60_000));
  on('roomPrefs', roomPrefs);
}

function roomPrefs(e) {
  const view = state.rooms.get(e.room);
  if (!view) return;
  setPrefs(view, e);
  awaitSilenceEnd();
}

function joinRequested({ room, count }) {
  const view = state.rooms.get(room);
  if (!view) return;
  if (count > (view.asking ?? 0)) toast(t('requests.came', { room: view.room.name }));
  view.asking = count;
}

/** The view of the link says it, if it is open. */
function joinRefused({ room }) {
  state.refusedBy = room;
  if (!state.route.link || roomOfCode(state.route.link) !== room) toast(t('rooms.refused'));
}

function reportDecided(report) {
  renewReport(report);
  if (state.route.sheet?.name !== 'reports') toast(t(`reports.told.${report.side}`), { label: t('reports.look'), run: () => openSheet('reports') }, 8000);
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
  awaitSilenceEnd();
  if (before) renewSaved(before);
  if (open && !currentRoom()) toast(t('errors.not_member'));
  e.states.forEach(setPacketState);
  if (e.again) [...state.packets.values()].filter(isRaining).forEach((view) => askRain(view)); // waves may have come meanwhile
  if (e.rooms.some((room) => room.unread)) renewMentions(); // for the number of those that are new
  loadContacts();
  if (!e.again) openLast();
  sayUnsent();
  if (e.again && currentRoom()) askPresence(currentRoom().room.id);
  if (!e.again) {
    renewPush();
    wantWaiting();
  }
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

function entry({ room, entry: e, state: packetState }) {
  const view = state.rooms.get(room);
  if (!view) return;
  meetIn(view, e.from);
  view.typing.delete(e.from.id);
  notePacket(e, packetState);
  if (e.kind === 'packet_done') drawn(e.body.packet);
  if (e.kind === 'packet') came(view, e);
  noteOwn(view, e);
  if (!append(view.timeline, e, state.me.id)) renew(view);
  if (e.seq > view.room.last_seq) {
    view.room = { ...view.room, last_seq: e.seq };
    count(view, e);
  }
  if (e.seq > view.newsSeq) { // also what arrived during a reconnect: nothing else tells of it, because Web Push was silent
    view.newsSeq = e.seq;
    if (!isHidden(view, e)) tellNews(view, e);
    else if (!blockedIds()) blockedKnown().then(() => change(() => { if (!isHidden(view, e)) tellNews(view, e); }));
  }
  noteMention(room, e);
  noteHits(room, e);
  noteMedia(view, e);
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

/** A packet that is pushed was sent while the user was a member. */
function came(view, e) {
  const packet = packetView(e.body);
  packet.offered = true;
  if (view === currentRoom()) packet.cameAt = performance.now();
}

function entered(e) {
  addRoom(e.room);
  wantWaiting();
}

function skipped(e) {
  const view = state.rooms.get(e.room);
  renew(view);
  wantSkipped(view);
}

/** The end of a draw or rain: a participant that may have won hears it at once, another one when that is certain. */
function drawn(id) {
  const view = state.packets.get(id);
  if (!view) return;
  endRain(view);
  if (!isDraw(view.packet)) return;
  if (view.ending) endDraw(view);
  else tellEnd(view);
}

function said(view, e) {
  if (view.last?.item?.seq > e.seq) return; // a newer entry was loaded before the missed ones arrived
  view.last = { at: e.at, item: e };
  if (view !== currentRoom() || e.from.id === state.me.id || isHidden(view, e)) return;
  const { name } = e.from;
  state.announcement = e.kind === 'packet' ? t('timeline.saidPacket', { name })
    : t('timeline.said', { name, text: [filesInWords(e.body), e.body.text].filter(Boolean).join(' ') || t('timeline.attachment') });
}

/** The row in the list of rooms follows amendments of its last message. */
function amendLast(view, e) {
  const item = view.last?.item;
  if (item?.seq !== e.body.target) return;
  const body = e.kind === 'recall' ? { recalled: true, by: e.from } : { ...item.body, text: e.body.text, preview: e.body.preview, edited_at: e.at };
  if (!e.body.recalled) view.last = { ...view.last, item: { ...item, body } };
}

function member(view, e) {
  noteMember(view, e.body);
  noteMute(view, e);
  if (e.body.change === 'role' && e.body.user === state.me.id) view.room = { ...view.room, role: e.body.role };
}

function count(view, e) {
  if (e.kind !== 'text' && e.kind !== 'packet') return;
  if (view.prefs.archived && (!view.prefs.silent || view.prefs.silent_until)) view.prefs = { ...view.prefs, archived: false };
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
  view.media.clear();
  dropArrived(view);
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
  if (e.kind === 'claim') {
    noteWon(e);
    learnOwn(e.packet);
  }
  if (e.kind === 'refund') toast(t('wallet.refunded', { amount: money(e.change) }));
}
