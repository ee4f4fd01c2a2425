// Command host is a back end that embeds hongbao, written from web/docs/server-api.md and events.md alone. It makes users and rooms, lets users chat and send packets,
// posts as the system, and receives every event by the webhook. It writes each accepted delivery as a line of JSON.
//
//   URLS      addresses of the server API, separated by commas; KEY opens them
//   PORT      where the webhook is received; SECRET verifies it
//   OUT       file for the events
//   USERS     how many users to make, ROOMS how many rooms, WORKERS how many requests at once
//   SECONDS   how long to make traffic
//
// It prints "listening", "ready" when everything is made, and "done" after the traffic. It then receives events until it gets SIGTERM.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { appendFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';

const { KEY, OUT, PORT, SECRET } = process.env;
const urls = process.env.URLS.split(',');
const [users, rooms, workers, seconds] = ['USERS', 'ROOMS', 'WORKERS', 'SECONDS'].map((name) => Number(process.env[name]));
const sleep = (ms) => new Promise((done) => { setTimeout(done, ms); });
let current = 0;

/** Sends a request, to another instance after a temporary error, until it is answered. */
async function call(verb, path, body, idempotency) {
  for (let pause = 50; ; pause = Math.min(2 * pause, 1000)) {
    const which = current;
    try {
      const response = await fetch(urls[which % urls.length] + path, {
        method: verb, body: JSON.stringify(body), signal: AbortSignal.timeout(20_000),
        headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', ...(idempotency && { 'idempotency-key': idempotency }) },
      });
      const answer = await response.json();
      if (response.ok) return answer;
      if (!answer.error?.temporary) throw Object.assign(new Error(`${verb} ${path}: ${response.status} ${JSON.stringify(answer)}`), { final: true });
    } catch (error) {
      if (error.final) throw error;
      if (current === which) current++;
    }
    await sleep(pause);
  }
}

/** Verifies a delivery as Standard Webhooks says. */
function verified(headers, body) {
  const id = headers['webhook-id'];
  const at = headers['webhook-timestamp'];
  if (Math.abs(Date.now() / 1000 - Number(at)) > 300) return false;
  const secret = Buffer.from(SECRET.replace('whsec_', ''), 'base64');
  const want = createHmac('sha256', secret).update(`${id}.${at}.`).update(body).digest();
  return (headers['webhook-signature'] ?? '').split(' ').some((signature) => {
    const got = Buffer.from(signature.replace('v1,', ''), 'base64');
    return signature.startsWith('v1,') && got.length === want.length && timingSafeEqual(got, want);
  });
}

writeFileSync(OUT, '');
const server = createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => {
    const body = Buffer.concat(parts);
    if (!verified(request.headers, body)) {
      response.writeHead(401).end();
      return;
    }
    const event = JSON.parse(body.toString());
    appendFileSync(OUT, `${JSON.stringify({ ...event, received: Date.now() })}\n`);
    response.writeHead(204).end();
  });
});
await new Promise((listening) => { server.listen(Number(PORT), '127.0.0.1', listening); });
process.on('SIGTERM', () => process.exit(0));
console.log('listening');

/** Calls act for 0 to n-1, at most so many at once as there are workers. */
async function each(n, act) {
  let next = 0;
  await Promise.all(Array.from({ length: workers }, async () => {
    while (next < n) await act(next++);
  }));
}

const names = Array.from({ length: users }, (_, i) => `node-${String(i).padStart(5, '0')}`);
for (let from = 0; from < users; from += 1000) {
  await call('POST', '/v1/server/users', { users: names.slice(from, from + 1000).map((user) => ({ user, name: `Name of ${user}` })) });
}
const made = [];
await each(rooms, async (i) => {
  const size = Math.min(20, Math.floor(users / rooms));
  const members = names.slice(i * size, (i + 1) * size);
  const key = `node-room-${i}`;
  const { room } = await call('POST', '/v1/server/rooms', { name: key, ref: key, kind: 'private', owner: members[0], members: members.slice(1) }, key);
  await call('POST', `/v1/server/users/${members[0]}/credit`, { amount: 1_000_000, note: 'welcome' }, key);
  made[i] = { room: room.id, members };
});
console.log('ready');

const until = Date.now() + 1000 * seconds;
let count = 0;
await Promise.all(Array.from({ length: workers }, async () => {
  while (Date.now() < until) {
    const n = ++count;
    const { room, members } = made[n % rooms];
    const key = `node-${n}`;
    const as = (user, command, body) => call('POST', `/v1/server/as/${user}/${command}`, body);
    if (n % 5 === 0) {
      await call('POST', '/v1/server/system/send', { room, key, text: `Notice ${key}` });
    } else if (n % 5 === 1) {
      const { packet } = await as(members[0], 'send_packet', { room, key, total: 100, count: 2 });
      for (const grabber of members.slice(1, 3)) await as(grabber, 'grab', { packet: packet.id });
    } else {
      await as(members[n % members.length], 'send', { room, key, text: `Hello ${key}`, mentions: [members[(n + 1) % members.length]] });
    }
  }
}));
console.log('done');
