// The SDK and the real server: what people do, and what goes wrong under them.

import { ClosedError, receiptInProof, verifyPacket, verifyProof, verifyReceipt } from '/sdk/index.js';
import { equal, failure, ok, pause } from './check.js';
import { allOf, control, person, room, say, tokenOf, unique } from './people.js';

/** Who is told what, from the first connect to the last leave. */
export async function talk() {
  const ann = await person(unique('ann'));
  const bob = await person(unique('bob'));
  const ready = await ann.ear.next('ready');
  equal([ready.rooms, ready.account.currency.code, ann.client.me.id, ready.again], [[], 'CNY', ann.user, false]);
  const id = await room(ann, bob);
  const sent = await ann.client.send({ room: id, key: 'k1', text: 'hello <bob> & 你好' });
  const { entry } = await bob.ear.next('entry');
  const { seq, id: entryID, at, key, from, body } = entry;
  equal({ seq, id: entryID, at, dup: false }, sent);
  equal([key, from, body], ['k1', ann.client.me, { text: 'hello <bob> & 你好' }]);
  const again = await ann.client.send({ room: id, key: 'k1', text: 'hello <bob> & 你好' });
  equal([again.dup, again.id], [true, sent.id]);
  await ann.client.typing(id);
  equal(await bob.ear.next('typing'), { room: id, user: ann.user });
  equal(await bob.client.read(id, sent.seq), { unread: 0 });
  equal(await ann.ear.next('read', (e) => e.user === bob.user), { room: id, user: bob.user, seq: sent.seq });
  ok((await bob.client.presence(id)).users.includes(ann.user), 'ann is not there');
  await ann.client.react(id, sent.seq, '🎉', true);
  equal((await bob.ear.next('entry')).entry.body, { target: sent.seq, emoji: '🎉', on: true, count: 1 });
  await bob.client.leave(id);
  equal(await bob.ear.next('left'), { room: id, reason: 'left' });
  equal((await failure(bob.client.send({ room: id, text: '?' }))).word, 'not_member');
  await say(ann, id, 1, 2);
  await bob.client.join(id); // what was said meanwhile is no event
  equal((await bob.ear.next('entered')).room.last_seq, sent.seq + 3);
  await say(ann, id, 3, 4);
  await bob.ear.texts(id, 3, 4);
  const bad = await failure(bob.client.createRoom({ kind: 'square', name: 'room' }));
  equal([bad.code, bad.word, bad.fields], [107, 'bad_request', { field: 'kind' }]);
  for (const one of [ann, bob]) one.client.close();
}

/** Somebody in many rooms begins with all of them, though the connect reply has 20; also after the connection was lost. */
export async function manyRooms() {
  const ann = await person(unique('ann'));
  const made = await Promise.all(Array.from({ length: 30 }, (_, i) => ann.client.createRoom({ name: `room ${i}`, kind: 'private' })));
  const want = made.map(({ room: { id, name } }) => `${id} ${name}`).sort();
  const again = await person(ann.user, { line: true });
  const first = await again.ear.next('ready');
  equal([first.rooms.map(({ id, name }) => `${id} ${name}`).sort(), first.again], [want, false]);
  await control('cut');
  const second = await again.ear.next('ready');
  equal([second.rooms.length, second.again], [30, true]);
  const { room: { id } } = made[0];
  await say(ann, id, 1, 1);
  await again.ear.texts(id, 1, 1);
  for (const one of [ann, again]) one.client.close();
}

/** A draw from its sending to its proof: one of two wins, and the receipts are under the root. */
export async function draws() {
  const annID = unique('ann');
  await control('credit', { user: annID, amount: 10_000 });
  const ann = await person(annID);
  const bob = await person(unique('bob'));
  const id = await room(ann, bob);
  const { packet: later } = await ann.client.sendPacket({ room: id, total: 1000, count: 1, window_s: 3, opens_at: Date.now() + 3_600_000 });
  const early = await failure(bob.client.grab(later.id));
  equal([early.word, early.fields, later.expires_at - later.opens_at], ['not_yet', { opens_at: String(later.opens_at) }, 3000]);
  const { packet } = await ann.client.sendPacket({ room: id, total: 1000, count: 1, window_s: 3, rest: 'share' });
  equal([packet.window_s, packet.rest], [3, 'share']);
  const entered = await Promise.all([ann, bob].map(({ client }) => client.grab(packet.id)));
  equal(entered.map(({ outcome }) => outcome), ['entered', 'entered']);
  ok(await ann.client.checkReceipt(packet, entered[0].receipt) !== 'bad', 'the receipt does not fit');
  equal(await ann.client.checkReceipt(packet, entered[1].receipt), 'bad');
  equal((await ann.client.grab(packet.id)).receipt, entered[0].receipt);
  equal((await failure(bob.client.proof(packet.id))).fields, { field: 'packet' });
  const { entry: { body: done } } = await bob.ear.next('entry', (e) => e.entry.kind === 'packet_done');
  const proof = await bob.client.proof(packet.id);
  ok(verifyProof(proof).every(({ holds }) => holds), JSON.stringify(verifyProof(proof)));
  equal([proof.seed, proof.waves[0].root, proof.waves[0].winners.length], [done.seed, done.state.draw.root, 1]);
  const keys = await bob.client.receiptKeys();
  for (const { receipt } of entered) {
    equal([receiptInProof(proof, receipt), keys.at(-1)], ['in', receipt.key]);
    ok(await verifyReceipt(keys.at(-1), receipt) !== 'bad', 'the signature does not fit');
  }
  for (const one of [ann, bob]) one.client.close();
}

/** A packet from its sending to its proof. */
export async function packets() {
  const [annID, bobID] = [unique('ann'), unique('bob')];
  await control('credit', { user: annID, amount: 10_000 });
  const ann = await person(annID);
  const bob = await person(bobID);
  const id = await room(ann, bob);
  const committed = ann.client.account.nextCommitment;
  const sent = await ann.client.sendPacket({ room: id, total: 1000, count: 2 });
  equal([sent.packet.commitment, sent.balance, ann.client.account.balance], [committed, 9000, 9000]);
  ok(ann.client.account.nextCommitment === sent.next_commitment && sent.next_commitment !== committed, 'the same seed twice');
  const grab = await bob.client.grab(sent.packet.id);
  equal([grab.outcome, grab.balance, bob.client.account.balance], ['won', grab.amount, grab.amount]);
  equal((await bob.ear.next('wallet')).change, grab.amount);
  const rest = await ann.client.grab(sent.packet.id, '');
  const { entry: { body: done } } = await bob.ear.next('entry', (e) => e.entry.kind === 'packet_done');
  equal([done.reason, grab.amount + rest.amount], ['drained', 1000]);
  const { packet, proof, claims, state } = await bob.client.packet({ packet: sent.packet.id });
  const expected = [grab.amount, rest.amount];
  equal(await verifyPacket({ packet, proof, claims, state }), { commitment: true, sum: true, shares: true, expected });
  equal((await failure(ann.client.cancelPacket(packet.id))).word, 'packet_finished');

  // Another device has used the seed: nobody notices.
  const phone = await person(annID);
  await phone.ear.next('ready');
  phone.client.account.nextCommitment = committed;
  equal((await phone.client.sendPacket({ room: id, total: 10, count: 1 })).dup, false);
  for (const one of [ann, bob, phone]) one.client.close();
}

/** The server is killed and comes back: what was said while one was away is pushed when he is back. */
export async function recovers() {
  const annID = unique('ann');
  await control('credit', { user: annID, amount: 10 });
  const ann = await person(annID);
  const bob = await person(unique('bob'), { line: true });
  const id = await room(ann, bob);
  await say(ann, id, 1, 3);
  await bob.ear.texts(id, 1, 3);
  await control('kill');
  const lost = await ann.ear.next('link');
  ok(lost.state === 'connecting' && lost.again && lost.code && lost.retryAt, JSON.stringify(lost));
  await control('swallow', { on: 1 }); // bob does not come back yet
  await control('start');
  await say(ann, id, 4, 8);
  const { packet } = await ann.client.sendPacket({ room: id, total: 10, count: 1 });
  await ann.client.grab(packet.id);
  await control('swallow');
  await control('cut');
  await bob.ear.texts(id, 4, 8);
  const sent = await bob.ear.next('entry');
  equal([sent.entry.kind, sent.entry.body.id, sent.state.status, sent.state.claimed], ['packet', packet.id, 'drained', 1]);
  equal((await bob.ear.next('entry')).entry.kind, 'packet_done');
  await say(ann, id, 9, 10);
  await bob.ear.texts(id, 9, 10);
  for (const one of [ann, bob]) one.client.close();
}

/** More was said than a connect reply brings: the rest is read from history, before anything newer; or it is named. */
export async function tooMuchMissed() {
  const ann = await person(unique('ann'));
  const all = await person(unique('all'), { line: true, maxMissed: Infinity });
  const few = await person(unique('few'), { line: true, maxMissed: 30 });
  const id = await room(ann, all, few);
  await say(ann, id, 1, 1);
  await all.ear.texts(id, 1, 1);
  await few.ear.texts(id, 1, 1);
  await control('swallow', { on: 1 });
  await control('cut');
  await say(ann, id, 2, 540);
  await control('swallow');
  await control('cut');
  await say(ann, id, 541, 545); // while they come back
  await all.ear.texts(id, 2, 545);
  const { after, through } = await few.ear.next('skipped');
  ok(after === 1 && through >= 500 && through <= 515, `skipped ${after} to ${through}`);
  await few.ear.texts(id, through + 1, 545);
  for (const one of [ann, all, few]) one.client.close();
}

/** Everything is sent, each once, though replies are lost and the server is killed; everyone hears all of it in the order of history. */
export async function nothingDoubles() {
  const annID = unique('ann');
  await control('credit', { user: annID, amount: 1000 });
  const ann = await person(annID, { line: true });
  const bob = await person(unique('bob'), { line: true });
  const id = await room(ann, bob);
  let rounds = 0;
  const trouble = (async () => {
    for (; rounds < 9; rounds++) {
      await pause(Math.random() * 300);
      if (rounds % 3 === 0) {
        await control('drop', { on: 1 });
        await pause(Math.random() * 100);
        await control('cut');
        await control('drop');
      } else if (rounds % 3 === 1) {
        await control('cut');
      } else {
        await control('kill');
        await control('start');
      }
    }
  })();
  let texts = 0;
  let gifts = 0;
  while (rounds < 9) {
    texts++;
    await say(ann, id, texts, texts);
    if (gifts < 5) {
      gifts++;
      const { packet } = await ann.client.sendPacket({ room: id, total: 100, count: 1 });
      const grab = await bob.client.grab(packet.id);
      ok(grab.amount === 100 && ['won', 'already'].includes(grab.outcome), JSON.stringify(grab));
    }
  }
  await trouble;
  const history = await allOf(bob, id);
  equal(history.filter((e) => e.kind === 'text').map((e) => e.body.text), Array.from({ length: texts }, (_, i) => String(i + 1)));
  equal(history.filter((e) => e.kind === 'packet').length, gifts);
  for (const one of [ann, bob]) {
    for (const want of history) {
      const { entry } = await one.ear.next('entry');
      equal([entry.seq, entry.id], [want.seq, want.id]);
    }
    equal(one.ear.heard.filter(({ name }) => name === 'entry' || name === 'skipped'), []);
  }
  equal((await ann.client.wallet()).balance, 1000 - 100 * gifts);
  equal((await bob.client.wallet()).balance, 100 * gifts);
  equal([ann.client.account.balance, bob.client.account.balance], [1000 - 100 * gifts, 100 * gifts]);
  for (const one of [ann, bob]) one.client.close();
}

/** A file is brought whole though the line is cut, sent with a text, and read by another user. */
export async function files() {
  const ann = await person(unique('ann'), { line: true });
  const bob = await person(unique('bob'));
  const id = await room(ann, bob);
  const bytes = new Uint8Array(6_000_000).map((_, n) => n * 31);
  let cuts = 0;
  const onProgress = (sent, size) => {
    if (cuts < 3 && sent > (size * (cuts + 1)) / 4) {
      cuts++;
      control('cut');
    }
  };
  const file = await ann.client.upload(id, new Blob([bytes]), { kind: 'file', name: 'a b.bin', type: 'text/x-numbers', onProgress });
  equal([file.kind, file.name, file.type, file.size, cuts], ['file', 'a b.bin', 'text/x-numbers', bytes.length, 3]);
  await ann.client.send({ room: id, files: [file.id] });
  const { entry } = await bob.ear.next('entry');
  equal(entry.body.files, [file]);
  const answer = await fetch(await bob.client.fileUrl(id, file.id));
  const got = new Uint8Array(await answer.arrayBuffer());
  ok(answer.ok && got.length === bytes.length && got.every((byte, n) => byte === bytes[n]), `${answer.status}, ${got.length} bytes`);
  const gone = new AbortController();
  const cancelled = failure(ann.client.upload(id, new Blob([bytes]), { kind: 'file', name: 'b', onProgress: () => gone.abort(), signal: gone.signal }));
  equal((await cancelled).name, 'AbortError');
  for (const one of [ann, bob]) one.client.close();
}

/** A call that the line swallows is given up with its signal, and done once nevertheless. */
export async function givenUpAndDoneOnce() {
  const ann = await person(unique('ann'), { line: true });
  const id = await room(ann);
  await control('drop', { on: 1 });
  const error = await failure(ann.client.send({ room: id, key: 'k', text: '1' }, { signal: AbortSignal.timeout(3000) }));
  equal(error.name, 'TimeoutError');
  await control('drop');
  await control('cut');
  equal((await ann.client.send({ room: id, key: 'k', text: '1' })).dup, true);
  await ann.ear.texts(id, 1, 1);
  ann.client.close();
}

/** The token runs out, is over, is bad, is revoked. */
export async function tokens() {
  const user = unique('ann');
  const given = [];
  const ttls = [3, 3600];
  const getToken = async () => {
    given.push(await tokenOf(user, ttls[given.length] ?? 3600));
    return given.at(-1);
  };
  const ann = await person(user, { token: await tokenOf(user, -1), getToken });
  await ann.ear.next('ready');
  while (given.length < 2) await pause(20);
  await ann.client.wallet();
  equal([given.length, ann.ear.heard], [2, []], 'renewed by coming back, not on the socket');

  await control('disconnect', { user });
  const gone = await ann.ear.next('link');
  equal([gone.state, gone.code], ['closed', 3503]);
  const error = await failure(ann.client.wallet());
  ok(error instanceof ClosedError && error.code === 3503, String(error));

  const bad = await person(unique('bob'), { token: 'nonsense' });
  equal((await bad.ear.next('link', (e) => e.state === 'closed')).code, 3500);
}
