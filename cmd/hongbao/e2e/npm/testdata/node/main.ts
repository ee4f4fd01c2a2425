// A program that uses the installed package: two users, a text, a packet, and a server that restarts. It prints one line a step, and
// waits for a line of its input after "restart". It ends by itself when both clients are closed.

import { once } from 'node:events';
import { Client, ClosedError, RefusedError, newKey, splitShares, verifyPacket } from 'hongbao-sdk';
import type { Entry, GrabReply, Room } from 'hongbao-sdk';
import WebSocket from 'ws';

const [address = '', annToken = '', bobToken = ''] = process.argv.slice(2);

// Node 22 has a WebSocket of its own, Node 20 has none: here none has.
Reflect.deleteProperty(globalThis, 'WebSocket');

try {
  new Client(address, { token: annToken });
  console.log('a client without a WebSocket was made');
} catch (error) {
  console.log('refused:', (error as Error).message);
}

const ann = new Client(address, { token: annToken, WebSocket });
const bob = new Client(address, { getToken: async () => bobToken, WebSocket, name: 'bob', version: '1' });

/** text resolves with the next entry of the text in the room. */
function text(client: Client, room: string, wanted: string): Promise<Entry> {
  return new Promise((resolve) => {
    const stop = client.on('entry', ({ room: where, entry }) => {
      if (where !== room || entry.body.text !== wanted) return;
      stop();
      resolve(entry);
    });
  });
}

const { room }: { room: Room } = await ann.createRoom({ name: 'party', kind: 'public' });
await bob.join(room.id);
const hello = text(ann, room.id, 'hello');
await bob.send({ room: room.id, text: 'hello', key: newKey() });
console.log('text:', (await hello).from.name);

const done = new Promise<Entry>((resolve) => {
  ann.on('entry', ({ entry }) => {
    if (entry.kind === 'packet_done') resolve(entry);
  });
});
const { packet } = await ann.sendPacket({ room: room.id, total: 1000, count: 2 });
const won: GrabReply = await bob.grab(packet.id);
const other: GrabReply = await ann.grab(packet.id);
console.log('grabs:', `${won.outcome},`, other.outcome, (won.amount ?? 0) + (other.amount ?? 0));
const { body } = await done;
const shares = splitShares(body.seed, packet);
const { proof, claims, state } = await ann.packet({ packet: packet.id });
const verdict = await verifyPacket({ packet, proof: proof!, claims, state });
console.log('proof:', shares.length, verdict.commitment && verdict.sum && verdict.shares);

try {
  await ann.join('no-such-room');
} catch (error) {
  if (error instanceof RefusedError) console.log('code:', error.code);
}

console.log('restart');
await once(process.stdin, 'data');
process.stdin.destroy();
const again = text(bob, room.id, 'after');
await ann.send({ room: room.id, text: 'after' });
console.log('after the restart:', (await again).seq);

ann.close();
bob.close();
try {
  await ann.send({ room: room.id, text: 'never' });
} catch (error) {
  console.log('closed:', error instanceof ClosedError);
}

// What the types must refuse. The function is never called.
export function wrong() {
  // @ts-expect-error: no such event
  ann.on('entri', () => undefined);
  // @ts-expect-error: a text is a string
  void ann.send({ room: room.id, text: 1 });
  // @ts-expect-error: a packet needs a total
  void ann.sendPacket({ room: room.id });
  // @ts-expect-error: a kind of rooms
  void ann.createRoom({ name: 'x', kind: 'secret' });
  // @ts-expect-error: outcomes are words
  return won.outcome === 'maybe';
}
