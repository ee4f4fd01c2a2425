// A back end that calls the server by HTTP, with types generated from openapi.json. It prints one line a step.

import createClient from 'openapi-fetch';
import type { components, paths } from './schema.js';

type Entry = components['schemas']['Entry'];

const [baseUrl = '', token = ''] = process.argv.slice(2);
const api = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });

const created = await api.POST('/v1/commands/create_room', { body: { key: 'party', name: 'party', kind: 'public' } });
if (!created.data) throw new Error(created.error.error.message);
const room = created.data.room.id;
await api.POST('/v1/commands/send', { body: { room, key: 'hello', text: 'hello' } });
await api.POST('/v1/commands/send_packet', { body: { room, key: 'packet', total: 1000, count: 2 } });

/** say reads the body of each kind with its own type. */
function say(entry: Entry): string {
  switch (entry.kind) {
    case 'text':
      // @ts-expect-error: a text has no total
      void entry.body.total;
      return `text ${entry.body.text}`;
    case 'packet': return `packet ${entry.body.total} ${entry.body.mode}`;
    case 'member': return `member ${entry.body.change}`;
    default: return entry.kind;
  }
}

const history = await api.POST('/v1/commands/history', { body: { room, after: 0, limit: 10 } });
if (!history.data) throw new Error(history.error.error.message);
for (const entry of history.data.entries) console.log(say(entry));

const refused = await api.POST('/v1/commands/grab', { body: { packet: 'none' } });
console.log('refused:', refused.response.status, refused.error?.error.code);

// What the types must refuse. The function is never called.
export async function wrong() {
  // @ts-expect-error: no such command
  await api.POST('/v1/commands/fly', { body: {} });
  // @ts-expect-error: the text must be a string
  await api.POST('/v1/commands/send', { body: { room, key: 'k', text: 1 } });
}
