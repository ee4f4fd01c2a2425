// Rooms whose line is broken: lost pushes, too much at once, another numbering, coming and going.

import { Ear, equal, ok, pause } from './check.js';
import { Script, inRoom, publication, refusal } from './script.js';

/** page is what history answers: so many entries after one. */
const page = ({ after, limit }) => ({
  data: { entries: Array.from({ length: limit }, (_, i) => entry(after + i + 1)), packet_states: [], more: true },
});

/** comeBack is the push that one is in the room again. */
const comeBack = (offset, room) => ({
  push: {
    channel: 'room:r',
    subscribe: { recoverable: true, positioned: true, epoch: 'e', offset, data: { room: { id: 'r', name: 'room', ...room } } },
  },
});

const entry = (seq, body = { text: String(seq) }) => publication('r', seq, 'text', body).push.pub.data;

async function connected(lastSeq, answer, options) {
  const script = new Script(inRoom(lastSeq), answer);
  const client = script.client(options);
  const ear = new Ear(client);
  await ear.next('ready');
  return { script, client, ear };
}

/** A push was lost on its way, and history does not have it either. */
export async function holes() {
  const { script, ear } = await connected(10, (_, { after, limit }) => {
    ok((after === 10 && limit === 2) || (after === 13 && limit === 2), `asked for ${limit} after ${after}`);
    if (after === 13) return refusal(1002, 'not_member');
    const entries = [entry(12, { text: '12', reactions: { '👍': 2 } }), entry(13, { text: 'of later' })];
    return { data: { entries, packet_states: [], more: true } };
  });
  script.enter('r', 13);
  script.enter('r', 16);
  equal(await ear.next('skipped'), { room: 'r', after: 10, through: 11 });
  equal((await ear.next('entry')).entry.body.reactions, { '👍': 2 });
  await ear.texts('r', 13, 13);
  equal(await ear.next('skipped'), { room: 'r', after: 13, through: 15 });
  await ear.texts('r', 16, 16);
}

/** History fills in pages, before what is pushed meanwhile; packets come with how they stand. */
export async function pages() {
  const state = { packet: 'p', status: 'open', claimed: 1 };
  const { script, ear } = await connected(0, (_, { after, limit }) => {
    ok(limit <= 100, `asked for ${limit}`);
    script.enter('r', 252 + after / 100); // more comes with each page
    const entries = Array.from({ length: limit }, (_, i) => entry(after + i + 1));
    if (after === 0) entries[4] = { ...entries[4], kind: 'packet', body: { id: 'p', text: '5' } };
    return { data: { entries, packet_states: after === 0 ? [state] : [], more: true } };
  });
  script.enter('r', 251);
  await ear.texts('r', 1, 4);
  const packet = await ear.next('entry');
  equal([packet.entry.seq, packet.state], [5, state]);
  await ear.texts('r', 6, 254);
}

/** Few entries wait behind a hole; the others are read again. */
export async function queueLimit() {
  let release = () => undefined;
  const held = new Promise((resolve) => {
    release = resolve;
  });
  const answer = (_, request, id) => void held.then(() => script.say({ id, rpc: page(request) }));
  const { script, ear } = await connected(0, answer, { queueLimit: 3 });
  for (let seq = 5; seq <= 25; seq++) script.enter('r', seq);
  while (script.count('history') === 0) await pause(1);
  release();
  await ear.texts('r', 1, 25);
}

/** More is missing than is wanted: the newest are read. */
export async function maxMissed() {
  for (const [options, through] of [[{}, 500], [{ maxMissed: 10 }, 990], [{ maxMissed: 0 }, 1000], [{ maxMissed: Infinity }, 0]]) {
    const { script, ear } = await connected(0, (_, request) => page(request), options);
    script.enter('r', 1001);
    if (through > 0) equal(await ear.next('skipped'), { room: 'r', after: 0, through });
    await ear.texts('r', through + 1, 1001);
  }
}

/** More was missed than a connect reply brings: history has it. */
export async function notRecovered() {
  const { script, ear } = await connected(10, (_, request) => page(request));
  script.connect = inRoom(13);
  script.hangUp(3001, 'drain');
  await ear.texts('r', 11, 13);
  script.enter('r', 14);
  await ear.texts('r', 14, 14);
}

/** The server comes back from a backup: another epoch, or fewer entries. What was on its way from history is of another room. */
export async function numberedAnew() {
  for (const epoch of ['f', 'e']) {
    const asked = [];
    const { script, ear } = await connected(10, (method, data, id) => void asked.push({ ...data, id }));
    script.enter('r', 11);
    await ear.texts('r', 11, 11);
    script.enter('r', 13); // 12 is asked for, and not answered
    while (asked.length === 0) await pause(1);
    script.connect = inRoom(5);
    script.epoch = epoch;
    script.hangUp(3001, 'drain');
    await ear.next('ready');
    while (asked.length < 2) await pause(1);
    script.enter('r', 7);
    script.say({ id: asked[1].id, rpc: { data: { entries: [entry(12)], packet_states: [], more: false } } });
    while (asked.length < 3) await pause(1);
    equal([asked[2].after, asked[2].limit], [5, 1]);
    script.say({ id: asked[2].id, rpc: page(asked[2]) });
    equal(await ear.next('skipped'), { room: 'r', after: 0, through: 5 });
    await ear.texts('r', 6, 7);
  }
}

/** Kinds and messages of a newer server disturb nobody; what is no entry still has its place. */
export async function unknown() {
  const { script, ear } = await connected(4);
  script.message({ applause: { room: 'r' } });
  script.message(null);
  script.enter('r', 5, 'poll', { question: '?' });
  script.say({ push: { channel: 'room:r', pub: { offset: 6, data: 'no object' } } });
  script.say({ push: { channel: 'elsewhere', pub: { offset: 1, data: {} } } });
  script.say({ push: { channel: 'elsewhere', subscribe: { recoverable: true, offset: 3 } } });
  script.enter('r', 7);
  equal((await ear.next('entry')).entry.body, { question: '?' });
  equal((await ear.next('entry')).entry, { seq: 6, id: '', at: 0, from: { id: '', name: '' }, kind: '', body: 'no object' });
  await ear.texts('r', 7, 7);
  equal(ear.heard, []);
}

/** A room that was lost while offline, and one that was entered; then the first once more, live. */
export async function movedWhileOffline() {
  const { script, client, ear } = await connected(4);
  const other = { ...inRoom(9).rooms[0], id: 'other' };
  script.connect = { ...inRoom(0), rooms: [other] };
  script.hangUp(3001, 'drain');
  equal((await ear.next('ready')).rooms, [other]);
  equal(await ear.next('left'), { room: 'r', reason: '' });
  equal(await ear.next('entered'), { room: other });
  script.say(comeBack(6, { last_seq: 5 }));
  equal((await ear.next('entered')).room, { id: 'r', name: 'room', last_seq: 6, read_seq: 6, unread: 0 });
  script.enter('r', 7);
  await ear.texts('r', 7, 7);
  equal(client.state, 'connected');
}

/** Who is put out hears of it after what came before; coming back begins anew. */
export async function leaving() {
  const { script, ear } = await connected(0, (_, { after }) => ({ data: { entries: [entry(after + 1)], packet_states: [], more: false } }));
  script.say(
    publication('r', 2), { push: { message: { data: { left: { room: 'r', reason: 'kicked' } } } } },
    { push: { channel: 'room:r', unsubscribe: { code: 2000, reason: 'kicked' } } }, publication('r', 3), comeBack(9), publication('r', 10),
  );
  await ear.texts('r', 1, 2);
  equal(ear.heard.map(({ name }) => name), ['left', 'entered', 'entry']);
  equal(await ear.next('left'), { room: 'r', reason: 'kicked' });
  equal((await ear.next('entered')).room.last_seq, 9);
  await ear.texts('r', 10, 10);
}

const named = (id, lastSeq) => ({ ...inRoom(lastSeq).rooms[0], id, name: `room ${id}` });

/** paged is a server whose connect reply has one of the rooms: the others come in pages, each when release is called. */
function paged(...others) {
  const asked = [];
  const script = new Script({ ...inRoom(4), rooms_next: 'page 0' }, (method, data, id) => {
    if (method === 'rooms') asked.push({ ...data, id });
  });
  script.unlisted = others;
  script.release = async (rooms, next) => {
    while (asked.length === 0) await pause(1);
    const { id, ...data } = asked.shift();
    script.say({ id, rpc: { data: { rooms, next } } });
    return data;
  };
  return script;
}

/** A connect reply has only some rooms: the others are listed before anything else is told. */
export async function listedInPages() {
  const [a, b, c] = [named('a', 7), named('b', 9), named('c', 2)];
  const script = paged(a, b, c);
  const client = script.client();
  const ear = new Ear(client);
  await ear.next('link', (e) => e.state === 'connected');
  equal(script.asked[0].data, { rooms: 20 });
  script.enter('a', 8);
  script.enter('r', 5);
  script.message({ members: { room: 'a', count: 3 } });
  script.say({ push: { channel: 'room:c', unsubscribe: { code: 2000, reason: 'left' } } });
  equal(await script.release([a, c], 'page 1'), { next: 'page 0', limit: 100 });
  script.enter('b', 10);
  await pause(20);
  equal(ear.heard, []);
  equal(await script.release([b]), { next: 'page 1', limit: 100 });
  while (ear.heard.length < 6) await pause(1);
  equal([ear.heard[0].name, ear.heard[0].event.rooms, ear.heard[0].event.again], ['ready', [script.connect.rooms[0], a, b], false]);
  const told = ear.heard.slice(1).map(({ name, event }) => `${name} ${event.room} ${event.entry?.seq ?? ''}`);
  equal(told.sort(), ['entry a 8', 'entry b 10', 'entry r 5', 'left c ', 'memberCount a ']);
  script.enter('a', 9);
  equal((await ear.next('entry', ({ room, entry: e }) => room === 'a' && e.seq > 8)).entry.seq, 9);
}

/** The connection is lost while rooms are listed: they are listed again, and nothing is told twice or lost. */
export async function lostWhileListing() {
  const a = named('a', 7);
  const script = paged(a);
  const ear = new Ear(script.client());
  await ear.next('link', (e) => e.state === 'connected');
  script.enter('a', 8);
  while (script.count('rooms') === 0) await pause(1);
  await pause(10);
  const b = named('b', 1);
  script.unlisted = [{ ...a, last_seq: 8 }, b];
  script.hangUp(3001, 'drain');
  await ear.next('link', (e) => e.state === 'connected');
  while (script.count('rooms') === 1) await pause(1);
  await script.release([a, b]); // the answer to a call that is lost
  await pause(20);
  equal(ear.heard, []);
  await script.release([b, { ...a, last_seq: 8 }]);
  const { rooms, again } = await ear.next('ready');
  equal([rooms.map(({ id }) => id), again], [['r', 'b', 'a'], false]);
  script.enter('a', 9);
  script.enter('b', 2);
  await ear.texts('a', 8, 9);
  equal((await ear.next('entry')).room, 'b');
  equal(ear.heard, []);
}

/** After a reconnect, rooms that were entered or left meanwhile are told of, also if pages list them. */
export async function movedAndListed() {
  const [a, b, d] = [named('a', 7), named('b', 9), named('d', 3)];
  const script = paged(a, b);
  const ear = new Ear(script.client());
  await script.release([a, b]);
  await ear.next('ready');
  script.unlisted = [a, d];
  script.hangUp(3001, 'drain');
  await ear.next('link', (e) => e.state === 'connected');
  script.enter('d', 4);
  await script.release([a, { ...d, last_seq: 4, unread: 1 }]);
  const { rooms, again } = await ear.next('ready');
  equal([rooms.map(({ id }) => id), again], [['r', 'a', 'd'], true]);
  equal(await ear.next('left'), { room: 'b', reason: '' });
  equal(await ear.next('entered'), { room: { ...d, unread: 1 } });
  equal((await ear.next('entry')).room, 'd');
  equal(ear.heard, []);
}
