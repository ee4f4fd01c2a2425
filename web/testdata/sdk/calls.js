// Calls against a server that is slow, refuses, loses answers, or has ended.

import { Client, ClosedError, RefusedError } from '/sdk/index.js';
import { Ear, equal, failure, ok, pause, soon } from './check.js';
import { Script, inRoom, publication, refusal } from './script.js';

/** What is temporary is repeated with the same key, not before the server allows it; the rest comes back. */
export async function repeats() {
  let n = 0;
  const answers = [
    refusal(1000, 'unavailable', true), refusal(111, 'rate_limited retry_after_ms=300', true), { data: { seq: 5, dup: false } },
    refusal(1003, 'muted'),
  ];
  const script = new Script(inRoom(0), () => answers[n++]);
  const client = script.client();
  const begun = performance.now();
  equal(await client.send({ room: 'r', text: 'hello' }), { seq: 5, dup: false });
  ok(performance.now() - begun >= 300, 'it did not wait as long as it was asked to');
  const keys = script.asked.filter((one) => one.method === 'send').map((one) => one.data.key);
  ok(keys.length === 3 && keys[0] && keys.every((key) => key === keys[0]), `the keys were ${keys}`);
  const refused = await failure(client.send({ room: 'r', text: 'hello' }));
  ok(refused instanceof RefusedError && refused.word === 'muted' && !refused.repeated, String(refused));
  ok(script.asked.at(-1).data.key !== keys[0], 'another message has the same key');
}

/** A request is sent as it was when the call was made. */
export async function frozen() {
  let n = 0;
  const script = new Script(inRoom(0), () => (n++ ? { data: {} } : refusal(1000, 'unavailable', true)));
  const message = { room: 'r', text: 'before', mentions: ['bob'], data: undefined };
  const sent = script.client().send(message);
  message.text = 'after';
  message.mentions.push('eve');
  await sent;
  for (const { data } of script.asked.slice(1)) equal({ ...data, key: 'k' }, { room: 'r', text: 'before', mentions: ['bob'], key: 'k' });
}

/** No answer came before the connection was lost: the same again on the next one. */
export async function repeatsAfterLoss() {
  const script = new Script(inRoom(0));
  const client = script.client();
  const edited = failure(client.edit('r', 4, 'text'));
  while (script.count('edit') === 0) await pause(1);
  script.answer = () => refusal(1013, 'edit_window_over');
  script.hangUp(3001, 'drain');
  const refused = await edited;
  ok(refused.word === 'edit_window_over' && refused.repeated, `${refused} ${refused.repeated}`);
}

/** The device goes offline at any moment of a call, and comes back: nobody waits for an answer that cannot come. */
export async function offline() {
  const script = new Script(inRoom(0), () => ({ data: {} }));
  const client = script.client();
  const ear = new Ear(client);
  for (let moments = 0; moments < 12; moments++) {
    await ear.next('ready');
    const answer = client.wallet();
    for (let i = 0; i < moments; i++) await null;
    dispatchEvent(new Event('offline'));
    await pause(1);
    dispatchEvent(new Event('online'));
    await soon(answer, `an answer ${moments} moments before`, 5000);
  }
}

/** A signal ends a call at once, patience when it is over; nobody has to answer, or even be there. */
export async function givenUp() {
  const script = new Script(inRoom(0));
  const away = new Client('ws://127.0.0.1:1/', { token: 't' });
  for (const client of [script.client(), away]) {
    const gone = new AbortController();
    const waiting = failure(client.wallet({}, { signal: gone.signal }));
    await pause(20);
    gone.abort(new Error('enough'));
    equal((await waiting).message, 'enough');
    equal((await failure(client.wallet({}, { signal: gone.signal }))).message, 'enough');
    equal((await failure(client.wallet({}, { patience: 50 }))).name, 'TimeoutError');
    equal((await failure(client.sendPacket({ room: 'r', total: 1, count: 1 }, { patience: 50 }))).name, 'TimeoutError');
    const grab = failure(client.grab('p', '', { patience: 50 }));
    equal((await grab).name, 'TimeoutError');
  }
  script.answer = () => refusal(1000, 'unavailable', true);
  equal((await failure(script.client().wallet({}, { patience: 200 }))).word, 'unavailable');
  script.answer = () => refusal(111, 'rate_limited retry_after_ms=60000', true);
  const begun = performance.now();
  equal((await failure(script.client().wallet({}, { patience: 5000 }))).word, 'rate_limited');
  ok(performance.now() - begun < 4000, 'it waited for what could not succeed in time');
  away.close();
}

/** What would make the server hang up is refused here; what is no JSON never leaves. */
export async function neverSent() {
  const script = new Script(inRoom(0), () => ({ data: {} }));
  const client = script.client();
  const refused = await failure(client.send({ room: 'r', text: '好'.repeat(30_000) }));
  equal([refused.code, refused.word, refused.fields], [1005, 'too_long', { field: 'data' }]);
  const circle = {};
  circle.circle = circle;
  for (const data of [circle, { n: 1n }]) ok(await failure(client.call('x', data)) instanceof TypeError, 'no JSON');
  await client.wallet();
  equal(script.asked.map((one) => one.method), ['connect', 'wallet']);
}

/** The last answer to a deletion was lost: that the room is not there is what was wanted. */
export async function deletedTwice() {
  let n = 0;
  const script = new Script(inRoom(0), () => (n++ ? refusal(1001, 'not_found') : refusal(100, 'internal id=x', true)));
  const client = script.client();
  equal(await client.deleteRoom('r'), {});
  equal((await failure(client.deleteRoom('r'))).word, 'not_found');
}

/** typing asks for no answer, and tells nobody while offline. */
export async function typing() {
  const script = new Script(inRoom(0));
  const client = script.client();
  await client.typing('r');
  const ear = new Ear(client);
  await ear.next('ready');
  await client.typing('r');
  while (!script.sent.some((one) => one.send)) await pause(1);
  equal(script.sent.filter((one) => one.send), [{ send: { data: { typing: { room: 'r' } } } }]);
}

/** close ends calls, whatever they wait for, and nothing is told after it. */
export async function closed() {
  const answers = { read: refusal(1000, 'unavailable', true) };
  const script = new Script(inRoom(0), (method) => answers[method]);
  const client = script.client();
  const ear = new Ear(client);
  await ear.next('ready');
  const calls = [client.wallet(), client.grab('p'), client.read('r', 1), client.sendPacket({ room: 'r', total: 1, count: 1 })].map(failure);
  await pause(50);
  client.close();
  for (const error of await Promise.all(calls)) ok(error instanceof ClosedError && error.code === 0, String(error));
  equal((await ear.next('link', (e) => e.state === 'closed')).code, 0);
  ok(await failure(client.wallet()) instanceof ClosedError, 'a call after the end');
  script.enter('r', 1);
  client.close();
  await pause(20);
  equal([client.state, ear.heard], ['closed', []]);

  const never = new Script(inRoom(0));
  never.client().close();
  await pause(20);
  equal(never.asked, []);
}

/** The server wants no more of it: calls and listeners are told why. */
export async function endedByTheServer() {
  for (const [code, end] of [[3503, (s) => s.hangUp(3503, 'revoked')], [1009, (s) => s.hangUp(1009)]]) {
    const script = new Script(inRoom(10));
    const client = script.client();
    const ear = new Ear(client);
    await ear.next('ready');
    const waiting = failure(client.wallet());
    await pause(10);
    script.enter('r', 11);
    end(script);
    const error = await waiting;
    ok(error instanceof ClosedError && error.code === code, String(error));
    await ear.texts('r', 11, 11);
    const last = await ear.next('link');
    equal([last.state, last.code, client.state], ['closed', code, 'closed']);
  }
}

/** Another kind of server is not talked to. */
export async function anotherServer() {
  const script = new Script(inRoom(0));
  script.greeting = ({ id }) => ({ id, connect: { client: 'c', ping: 25, data: { hello: 'world' } } });
  const error = await failure(script.client().wallet());
  ok(error instanceof ClosedError && error.code === 3501, String(error));
}

/** A listener that fails fails alone; and one that closes the client is obeyed at once. */
export async function listeners(stray) {
  const script = new Script(inRoom(0));
  const client = script.client();
  const heard = [];
  client.on('entry', () => { throw new Error('a listener of the test'); });
  const off = client.on('entry', ({ entry }) => heard.push(entry.seq));
  client.on('entry', ({ entry }) => entry.seq === 3 && client.close());
  await new Ear(client).next('ready');
  script.enter('r', 1);
  await pause(10);
  off();
  script.enter('r', 2);
  await pause(10);
  client.on('entry', ({ entry }) => heard.push(entry.seq));
  script.say(publication('r', 3), publication('r', 4));
  await pause(10);
  equal(heard, [1, 3]);
  equal(stray.splice(0).map((one) => one.includes('a listener of the test')), [true, true, true]);
}

/** The state of the connection is told as it is, with the time of the next try. */
export async function link() {
  const script = new Script(inRoom(0));
  const client = script.client();
  const ear = new Ear(client);
  equal(await ear.next('link'), { state: 'connecting', again: false });
  equal(client.state, 'connecting');
  equal(await ear.next('link'), { state: 'connected', again: false });
  ok(ear.heard[0].name === 'ready' && ear.heard[0].event.again === false, 'ready follows');
  script.hangUp(3008, 'too slow');
  const lost = await ear.next('link');
  ok(lost.retryAt > Date.now() - 50 && lost.retryAt < Date.now() + 5000, `retry at ${lost.retryAt}`);
  equal({ ...lost, retryAt: 0 }, { state: 'connecting', again: true, code: 3008, reason: 'too slow', retryAt: 0 });
  equal(client.state, 'connecting');
  equal(await ear.next('link'), { state: 'connected', again: true });
  equal((await ear.next('ready')).again, true);

  const nobody = new Client('ws://127.0.0.1:1/', { token: 't' });
  const waiting = new Ear(nobody);
  await waiting.next('link', (e) => e.state === 'connecting' && !e.again && e.retryAt);
  await waiting.next('link', (e) => e.state === 'connecting' && !e.again && e.retryAt);
  nobody.close();
}

export async function options() {
  const bare = () => new Client('ws://x.test/', {});
  const alone = () => new Client('ws://x.test/', { token: 't', ...without() });
  for (const bad of [bare, alone]) {
    let error;
    try {
      bad();
    } catch (e) {
      error = e;
    }
    ok(error instanceof Error, String(bad));
  }
  globalThis.Centrifuge = kept;
  const script = new Script(inRoom(0));
  script.client({ name: 'test', version: '7' });
  while (script.count('connect') === 0) await pause(1);
  equal([script.asked[0].name, script.asked[0].version, script.asked[0].token], ['test', '7', 'token']);
}

const kept = globalThis.Centrifuge;

function without() {
  delete globalThis.Centrifuge;
  return {};
}
