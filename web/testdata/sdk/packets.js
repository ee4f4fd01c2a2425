// Red packets where answers are late, lost or cross.

import { Ear, equal, failure, ok, pause } from './check.js';
import { Script, inRoom, refusal } from './script.js';

const sent = (more) => ({ data: { packet: {}, seq: 1, at: 1, balance: 5, next_commitment: 'c3', dup: false, ...more } });

/** The seed was used up by another device: a new key, and the seed that the server has committed to by now. */
export async function conflict() {
  const script = new Script(inRoom(0), (_, data) => (data.commitment === 'c2' ? sent() : refusal(1008, 'conflict next_commitment=c2')));
  const client = script.client();
  await client.sendPacket({ room: 'r', total: 10, count: 2 });
  const [a, b] = script.asked.slice(1).map((one) => one.data);
  ok(a.commitment === 'c1' && a.key && a.key !== b.key, JSON.stringify([a, b]));
  equal([client.account.balance, client.account.nextCommitment], [5, 'c3']);
  const error = await failure(client.sendPacket({ room: 'r', total: 10, count: 2, key: 'mine', commitment: 'c1' }));
  equal([error.word, error.fields, script.asked.length], ['conflict', { next_commitment: 'c2' }, 4]);
}

/** The seed was used up by a try of ours that nobody answered: the packet is there, and is not sent again. */
export async function conflictWithOneself() {
  let n = 0;
  const answers = [refusal(1000, 'unavailable', true), refusal(1008, 'conflict next_commitment=c2'), sent({ dup: true })];
  const script = new Script(inRoom(0), () => answers[n++]);
  const reply = await script.client().sendPacket({ room: 'r', total: 10, count: 2 });
  const keys = script.asked.slice(1).map((one) => one.data.key);
  ok(reply.dup && keys.length === 3 && keys.every((key) => key === keys[0]), JSON.stringify(script.asked));
}

/** A grab that is pending waits for its result. */
export async function pendingResult() {
  const pending = { packet: 'p', outcome: 'pending', claimed: 0, count: 2 };
  const won = { packet: 'p', outcome: 'won', amount: 7, rank: 1, at: 1, balance: 17, claimed: 1, count: 2 };
  const script = new Script(inRoom(0), () => ({ data: pending }));
  const client = script.client();
  const ear = new Ear(client);
  const told = [];
  const grab = client.grab('p', '', { onPending: (reply) => told.push(reply) });
  while (told.length === 0) await pause(1);
  script.message({ grab_result: { ...won, packet: 'another' } });
  script.message({ grab_result: won });
  equal(await grab, won);
  equal([told, script.count('grab'), client.account.balance], [[pending], 1, 17]);
  equal((await ear.next('grabResult', (e) => e.packet === 'p')), won);
  equal(script.asked.at(-1).data, { packet: 'p' });
}

/** No result comes: it is asked again, and told once that it takes long. */
export async function pendingAskedAgain() {
  let n = 0;
  const answers = [{ packet: 'p', outcome: 'pending' }, { packet: 'p', outcome: 'pending' }, { packet: 'p', outcome: 'empty' }];
  const script = new Script(inRoom(0), () => ({ data: answers[n++] }));
  let told = 0;
  const begun = performance.now();
  equal((await script.client().grab('p', 'sesame', { onPending: () => told++ })).outcome, 'empty');
  ok(performance.now() - begun > 2900, 'it was in a hurry');
  equal([told, script.asked.at(-1).data], [1, { packet: 'p', passphrase: 'sesame' }]);
}

/** A pending grab is cancelled by its signal, and refused when asked again. */
export async function pendingEnds() {
  const script = new Script(inRoom(0), () => ({ data: { packet: 'p', outcome: 'pending' } }));
  const client = script.client();
  const gone = new AbortController();
  equal((await failure(client.grab('p', '', { signal: gone.signal, onPending: () => gone.abort(new Error('enough')) }))).message, 'enough');
  const begun = performance.now();
  equal((await failure(client.grab('p', '', { patience: 200 }))).name, 'TimeoutError');
  ok(performance.now() - begun < 900, 'patience is for the waiting too');
  const refused = failure(client.grab('p', '', { onPending: () => { script.answer = () => refusal(1001, 'not_found'); } }));
  equal((await refused).word, 'not_found');
}

/** The newest word on one's money counts: a reply that crossed with a push says nothing new. */
export async function crossing() {
  const script = new Script(inRoom(0));
  const client = script.client();
  const ear = new Ear(client);
  await ear.next('ready');
  equal([client.account.balance, client.account.nextCommitment, client.account.currency.code], [10, 'c1', 'CNY']);
  const push = (balance, next_commitment) => ({
    push: { message: { data: { wallet: { balance, change: 1, kind: 'claim', next_commitment } } } },
  });
  const reply = (id, balance, next_commitment) => ({ id, rpc: { data: { balance, next_commitment, transfers: [] } } });

  // In one frame, the reply first: what comes after it counts.
  script.answer = (method, data, id) => {
    script.say(reply(id, 20, 'c2'), push(30, 'c3'));
  };
  await client.wallet();
  equal([client.account.balance, client.account.nextCommitment], [30, 'c3']);

  // The push first: the reply is older, though it comes later.
  script.answer = (method, data, id) => {
    script.say(push(50, 'c5'), reply(id, 40, 'c4'));
  };
  equal((await client.wallet()).balance, 40);
  equal([client.account.balance, client.account.nextCommitment], [50, 'c5']);

  // Nothing crossed: the reply counts.
  script.answer = () => ({ data: { state: {}, balance: 60 } });
  await client.cancelPacket('p');
  equal([client.account.balance, client.account.nextCommitment], [60, 'c5']);
}
