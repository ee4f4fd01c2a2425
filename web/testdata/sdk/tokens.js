// Tokens: fetched when there is none or it is over, on the socket that is there; and when there is none any more.

import { ClosedError } from '/sdk/index.js';
import { Ear, equal, failure, ok, pause } from './check.js';
import { Script, inRoom, refusal } from './script.js';

/** The network's own errors are worth another try, and nobody notices. */
export async function fetchedAgain() {
  const tries = [
    () => { throw new TypeError('Failed to fetch'); }, async () => { throw new DOMException('late', 'TimeoutError'); }, async () => 'good',
  ];
  let n = 0;
  const script = new Script(inRoom(0), () => ({ data: {} }));
  const client = script.client({ token: undefined, getToken: () => tries[n++]() });
  await client.wallet();
  equal([n, script.asked[0].token], [3, 'good']);
}

/** No token any more is the end. */
export async function noneAnyMore() {
  for (const getToken of [async () => null, async () => undefined, async () => '', async () => { throw new Error('signed out'); }]) {
    const script = new Script(inRoom(0));
    const client = script.client({ token: undefined, getToken });
    const ear = new Ear(client);
    const error = await failure(client.wallet());
    ok(error instanceof ClosedError && error.code === 3500, `${error}`);
    equal([(await ear.next('link', (e) => e.state === 'closed')).code, script.asked.length], [3500, 0]);
  }
}

/** The token is over: a new one is fetched, and without a way to get one it is the end. */
export async function over() {
  const script = new Script(inRoom(0), () => ({ data: {} }));
  const greeting = script.greeting;
  script.greeting = (command) => {
    if (command.connect.token === 'good') return greeting.call(script, command);
    return { id: command.id, ...refusal(109, 'token_expired') };
  };
  const client = script.client({ getToken: async () => 'good' });
  await client.wallet();
  equal(script.asked.map((one) => one.token).filter(Boolean), ['token', 'good']);
  equal((await failure(script.client().wallet())).code, 3500);
}

/** A token that runs out while connected is renewed on the socket. */
export async function refreshed() {
  const script = new Script(inRoom(0), () => ({ data: {} }));
  script.extra = { expires: true, ttl: 1 };
  const client = script.client({ getToken: async () => 'newer' });
  const ear = new Ear(client);
  await ear.next('ready');
  while (script.count('refresh') === 0) await pause(10);
  await client.wallet();
  equal([script.asked.at(-2).data, script.count('connect'), ear.heard], [{ token: 'newer' }, 1, []]);
}

/** A server that pings is answered. */
export async function pongs() {
  const script = new Script(inRoom(0));
  await new Ear(script.client()).next('ready');
  script.say({});
  while (!script.sent.some((one) => Object.keys(one).length === 0)) await pause(1);
}
