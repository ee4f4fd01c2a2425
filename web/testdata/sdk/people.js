// People on the real server, and what the test can do to it.

import { Client, newKey } from '/sdk/index.js';
import { Ear, ok, soon } from './check.js';

/** control has the test do something: kill, start, cut, swallow, drop, credit, disconnect, token, where. */
export async function control(what, query = {}) {
  const response = await fetch(`/control/${what}?${new URLSearchParams(query)}`, { method: 'POST' });
  ok(response.ok, `${what}: ${await response.clone().text()}`);
  return response.json();
}

/** unique makes a user's id that no other test has. */
export const unique = (name) => `${name}.${newKey()}`;

export const tokenOf = (user, seconds = 3600) => control('token', { user, seconds });

/** person is a client with an ear; through a line that can be cut, or directly. */
export async function person(user, { line = false, ...options } = {}) {
  const where = await control('where');
  const client = new Client(`ws://${line ? where.line : where.server}/v1/socket`, { token: await tokenOf(user), ...options });
  const ear = new Ear(client);
  return { client, ear, user };
}

/** room makes a public room with all of these in it. */
export async function room(owner, ...others) {
  const { room: { id } } = await owner.client.createRoom({ name: 'room', kind: 'public' });
  for (const one of others) {
    await one.client.join(id);
    await one.ear.next('entered', (e) => e.room.id === id);
  }
  await owner.ear.next('entered', (e) => e.room.id === id);
  return id;
}

/** say sends numbered texts. */
export async function say(one, id, from, to) {
  for (let i = from; i <= to; i++) await soon(one.client.send({ room: id, text: String(i) }), `text ${i}`);
}

/** allOf reads a room from its beginning. */
export async function allOf(one, id) {
  const entries = [];
  for (let more = true; more;) {
    const page = await one.client.history({ room: id, after: entries.at(-1)?.seq ?? 0, limit: 100 });
    entries.push(...page.entries);
    more = page.more;
  }
  return entries;
}
