// What the page shows is right whatever the line does: what is unread, what is being sent, whose rooms they are.

import { change, drawWith, state } from '/app/state.js';
import { setLanguage } from '/app/words.js';
import { nameOf } from '/app/model/rooms.js';
import { loadNewest } from '/app/actions/history.js';
import { wantLast } from '/app/actions/lasts.js';
import { markRead } from '/app/actions/looking.js';
import { deliver, say, sayUnsent } from '/app/actions/messages.js';
import { openPacket, sendPacket } from '/app/actions/packets.js';
import { endPush, renewPush } from '/app/notifications.js';
import { equal, failure, ok, soon } from '../check.js';
import { historyOf, Line, me, text, texts, until } from './line.js';

await setLanguage('en');

const room = (id, lastSeq, more = {}) => (
  { id, name: id, kind: 'public', members: 2, last_seq: lastSeq, created_at: 1, role: 'member', read_seq: lastSeq, unread: 0, ...more });
const quiet = { presence: () => ({ online: 1, users: [] }), members: () => ({ members: [] }) };
const view = (id) => state.rooms.get(id);

/** A room that is looked at, with so many texts of others. */
async function looksAt(id, known, answers = {}) {
  const line = new Line({ ...quiet, history: historyOf(() => known), ...answers });
  line.up([room(id, known.length, { read_seq: 0, unread: known.length })]);
  await loadNewest(id);
  return line;
}

/** What one has read before the line was cut stays read, though the server has not heard of it; what is new is counted by it. */
export async function readWhileCut() {
  const known = texts(3);
  const line = await looksAt('tea', known);
  markRead('tea');
  await line.asked('read');
  line.cut();
  line.up([room('tea', 3, { read_seq: 0, unread: 3 })]);
  equal([view('tea').unread, view('tea').readSeq], [0, 3], 'nothing new');

  line.cut();
  known.push(text(4), text(5));
  line.up([room('tea', 5, { read_seq: 0, unread: 5 })]);
  await until(() => view('tea').timeline.last === 5, 'what was missed');
  for (const call of [await line.asked('read'), await line.asked('read')]) {
    equal(call.data, { room: 'tea', seq: 3 });
    call.answer({ unread: 2 });
  }
  await until(() => view('tea').unread === 2, `${view('tea').unread} unread`);
  equal(view('tea').readSeq, 3);
}

/** Another tab has read: all, more than has come here yet, or a part. */
export async function readElsewhere() {
  const known = texts(3);
  const line = await looksAt('cake', known);
  const readTo = (seq) => line.tell('message', { data: { read: { room: 'cake', user: me.id, seq } } });
  readTo(2);
  const call = await line.asked('read');
  call.answer({ unread: 1 });
  await until(() => view('cake').unread === 1, 'a part');
  readTo(4);
  equal(view('cake').unread, 0, 'more than has come');
  line.push('cake', text(4));
  equal(view('cake').unread, 0, 'what has been read before it came');
  line.push('cake', text(5));
  equal(view('cake').unread, 1, 'what is new');
}

/** What is said while an answer is on its way is not forgotten by it. */
export async function saidMeanwhile() {
  const line = await looksAt('nuts', texts(3));
  line.tell('message', { data: { read: { room: 'nuts', user: me.id, seq: 1 } } });
  const call = await line.asked('read');
  line.push('nuts', text(4));
  call.answer({ unread: 2 });
  (await line.asked('read')).answer({ unread: 3 });
  await until(() => view('nuts').unread === 3, `${view('nuts').unread} unread`);
}

/** What arrives during a reconnect is told like what is pushed, once, and not counted twice. */
export async function missedIsTold() {
  const line = new Line({ ...quiet, history: historyOf(() => texts(5)) });
  line.up([room('lime', 5), room('kiwi', 5)]);
  const mention = (seq) => text(seq, 'bob', { body: { text: `call ${seq}`, mentions: [me.id] } });
  line.push('lime', mention(6));
  equal(state.banner?.seq, 6, 'pushed');
  change(() => { state.banner = null; });
  line.cut();
  line.up([room('lime', 8, { read_seq: 5, unread: 3 }), room('kiwi', 5)], true);
  equal(state.banner, null, 'before the missed entries');
  line.push('lime', mention(7));
  equal([state.banner?.seq, view('lime').unread], [7, 3], 'missed');
  line.push('lime', text(8));
  equal([state.banner?.seq, view('lime').unread, view('lime').newsSeq], [7, 3, 8], 'no mention');
  change(() => { state.banner = null; });
  line.cut();
  line.up([room('lime', 8, { read_seq: 8 }), room('kiwi', 5)], true);
  equal(state.banner, null, 'nothing was missed');
}

/** A line that is sent, but then too much is missed for it to be told: it does not stay as being sent. */
export async function sentAndSkipped() {
  const known = texts(3);
  const line = await looksAt('plum', known, { send_packet: () => ({ packet: { id: 'p1' }, seq: 5, balance: 900, next_commitment: 'c1' }) });
  say('plum', { text: 'hello' });
  const call = await line.asked('send');
  call.answer({ seq: 4 });
  sendPacket('plum', { total: 100, count: 1 });
  await until(() => state.account.balance === 900, 'the balance of the answer');
  equal(view('plum').outbox.map((s) => s.seq), [4, 5], 'not told yet');

  line.cut();
  known.push(text(4, me.id, { key: call.data.key }), text(5, me.id, { key: view('plum').outbox[1].key }));
  for (let seq = 6; seq <= 2000; seq++) known.push(text(seq));
  line.up([room('plum', 2000)]);
  await until(() => view('plum').timeline.last === 2000 && !view('plum').outbox.length, `${view('plum').outbox.length} are being sent still`);
  const seqs = view('plum').timeline.items.map((i) => i.seq);
  equal(seqs, seqs.map((_, n) => seqs[0] + n), 'without a gap');
}

/** The answer to a second try comes before the line is told: one sees it all the time, and once. */
export async function sentAndTold() {
  const known = texts(3);
  const line = new Line({ ...quiet });
  line.up([room('fig', 3)]);
  const loading = loadNewest('fig');
  (await line.asked('history')).answer({ entries: known, packet_states: [], more: false });
  await loading;
  say('fig', { text: 'hello' });
  const { data: { key } } = await line.asked('send');
  line.cut();
  line.up([room('fig', 4)]);
  const history = await line.asked('history'); // of what was missed, with the line in it
  (await line.asked('send')).answer({ seq: 4, dup: true });
  const seen = () => view('fig').outbox.filter((s) => s.key === key).length + view('fig').timeline.items.filter((i) => i.key === key).length;
  await until(() => view('fig').outbox[0]?.seq === 4, 'the answer');
  equal(seen(), 1, 'before it is told');
  history.answer({ entries: [text(4, me.id, { key })], packet_states: [], more: false });
  await until(() => view('fig').timeline.last === 4, 'it is told');
  equal([seen(), view('fig').outbox.length], [1, 0], 'after');
}

/** Whom one talks with is known though he has left: by what he has said or done. */
export async function otherHasLeft() {
  const known = [...texts(2), ...Array.from({ length: 10 }, (_, i) => text(i + 3, me.id))];
  const line = new Line({ ...quiet, members: () => ({ members: [{ user: me, role: 'member', online: true }] }), history: historyOf(() => known) });
  line.up([room('pair', known.length, { kind: 'direct', name: '' })]);
  wantLast('pair');
  await until(() => nameOf(view('pair')) === 'bob', nameOf(view('pair')));
}

/** A room that one was put out of while the line was cut is not open any more. */
export async function outWhileCut() {
  const line = new Line({ ...quiet, history: historyOf(() => []) });
  line.up([room('den', 0), room('tea', 0)]);
  change(() => { state.route = { room: 'den', sheet: null }; });
  line.cut();
  line.up([room('tea', 0)]);
  equal([state.route.room, state.rooms.has('den')], [null, false]);
  ok(state.toasts.some((toast) => toast.text.includes('not in this room')), 'why');
}

/** What is missed does not take the place of what is newer in the list of rooms. */
export async function lastNeverBack() {
  const line = new Line({ ...quiet, history: historyOf(() => texts(9)) });
  line.up([room('date', 7)]);
  wantLast('date');
  await until(() => view('date').last?.item.seq === 9, 'the last line');
  line.push('date', text(8));
  equal(view('date').last.item.seq, 9);
  line.push('date', text(9));
  line.push('date', text(10));
  equal(view('date').last.item.seq, 10);
}

/** The balance is that of the answer, also when its push is lost. */
export async function balanceOfTheAnswer() {
  const line = new Line({ ...quiet, history: historyOf(() => []) });
  line.up([room('oak', 0)]);
  const packet = { id: 'p9', room: 'oak', from: { id: 'bob', name: 'bob' }, mode: 'lucky', total: 10, count: 2, greeting: 'x', created_at: 1, expires_at: 2 };
  line.push('oak', text(1, 'bob', { kind: 'packet', body: packet }));
  const opening = openPacket('p9');
  const call = await line.asked('grab');
  equal([state.packets.get('p9').grab, state.packets.get('p9').state.mine], ['asking', undefined]);
  call.answer({ packet: 'p9', outcome: 'won', amount: 7, rank: 1, at: 5, balance: 1007, claimed: 1, count: 2 });
  await opening;
  equal([state.packets.get('p9').state.mine.amount, state.packets.get('p9').answer, state.account.balance], [7, 'won', 1007]);
}

const unsentHere = () => Object.keys(localStorage).filter((name) => name.startsWith('hongbao-unsent/'));

/** The rooms that the browser has kept are older than an unsent message: it waits for the server, which knows the room. */
export async function unsentInNewRoom() {
  localStorage.clear();
  const line = new Line({ ...quiet, history: historyOf(() => []) });
  localStorage.setItem(`hongbao-unsent/${me.id}/k1`, JSON.stringify({ key: 'k1', at: 1, request: { room: 'moss', key: 'k1', text: 'hello' } }));
  change(() => { state.me = me; state.saved = true; state.rooms.clear(); });
  sayUnsent();
  equal(unsentHere().length, 1, 'with the kept rooms');
  line.up([room('moss', 0)]);
  equal((await line.asked('send')).data.key, 'k1');
  line.cut();
  line.up([]);
  equal(unsentHere().length, 0, 'the user has left the room');
}

/** A message that was refused is not kept. It is kept again when the user tries again. */
export async function refusedAndTriedAgain() {
  localStorage.clear();
  const line = new Line({ ...quiet, history: historyOf(() => []) });
  line.up([room('fern', 0)]);
  say('fern', { text: 'hello' });
  (await line.asked('send')).refuse({ code: 1005, message: 'muted', temporary: false });
  await until(() => view('fern').outbox[0]?.status === 'failed', 'refused');
  equal(unsentHere().length, 0, 'refused');
  deliver(view('fern').outbox[0]);
  await line.asked('send');
  equal(unsentHere().length, 1, 'tried again');
  localStorage.clear();
}

/** A sign-out does not wait for a server that does not answer. */
export async function signOutWithoutServer() {
  const line = new Line(quiet);
  line.up([]);
  line.cut(); // from now on no command is answered
  change(() => { state.notify = true; });
  renewPush();
  await soon(endPush(), 'the end of the subscription', 15_000);
  change(() => { state.notify = false; });
}

/** The answer to the winning try is lost, and the next one says that there is a share already: the user has won. Another device's win stays one. */
export async function wonWithoutAnswer() {
  for (const [id, isLost, answer] of [['pw', true, 'won'], ['pa', false, 'already']]) {
    const line = new Line({ ...quiet, history: historyOf(() => []) });
    line.up([room('elm', 0)]);
    const packet = { id, room: 'elm', from: { id: 'bob', name: 'bob' }, mode: 'lucky', total: 10, count: 2, greeting: 'x', created_at: 1, expires_at: 2 };
    line.push('elm', text(1, 'bob', { kind: 'packet', body: packet }));
    const opening = openPacket(id);
    let call = await line.asked('grab');
    if (isLost) {
      call.refuse({ code: 1000, message: 'unavailable', temporary: true });
      call = await line.asked('grab');
    }
    call.answer({ packet: id, outcome: 'already', amount: 7, rank: 1, at: 5, claimed: 1, count: 2 });
    await opening;
    equal([state.packets.get(id).answer, state.packets.get(id).state.mine.amount], [answer, 7]);
    line.cut();
    line.up([]);
  }
}

/** A token of a guest, as the page reads it. */
const tokenOf = (sub, n) => `h.${btoa(JSON.stringify({ sub, iat: n + Date.now() / 1000 }))}.s`;

/** A guest's token is not over because the line has stood so long that timers end; only who asks again at once means that. */
export async function guestForWeeks() {
  const { now } = Date;
  const first = tokenOf('guest-a', 0);
  localStorage.setItem('hongbao-guest', first);
  const line = new Line({}, 'guest', first);
  try {
    equal(await line.token(), first);
    equal((await failure(line.token())).message, 'no token', 'asked again at once');
    Date.now = () => now() + 25 * 86_400_000;
    equal(await line.token(), first, 'after weeks');
    const newer = tokenOf('guest-a', 1);
    localStorage.setItem('hongbao-guest', newer);
    equal(await line.token(), newer);
  } finally {
    Date.now = now;
    localStorage.removeItem('hongbao-guest');
  }
}

/** A token of another guest is never used: the session ends, and what is stored stays. */
export async function guestIsAnother() {
  const [own, others] = [tokenOf('guest-a', 0), tokenOf('guest-b', 0)];
  const line = new Line({}, 'guest', own);
  try {
    equal(await line.token(), own);
    localStorage.setItem('hongbao-guest', others);
    equal((await failure(line.token())).message, 'no token');
    equal([state.door.status, state.door.error.word, localStorage.getItem('hongbao-guest')], ['ended', 'another', others]);
  } finally {
    localStorage.removeItem('hongbao-guest');
  }
}

/** The page is drawn, and with it its title, though nobody sees it and the browser gives no frames. */
export async function unseen() {
  const frame = globalThis.requestAnimationFrame;
  let drawn = 0;
  drawWith(() => { drawn++; });
  change();
  await until(() => drawn > 0, 'drawn in a frame');
  globalThis.requestAnimationFrame = () => 0;
  drawn = 0;
  try {
    change();
    await until(() => drawn > 0, 'drawn without a frame');
  } finally {
    globalThis.requestAnimationFrame = frame;
    drawWith(() => {});
  }
}
