// A page that Vite builds: the address of the socket and a token come behind the # of its own address.

import { Client, type ReadyEvent } from 'hongbao-sdk';

declare global {
  interface Window { said: Promise<string> }
}

async function say(): Promise<string> {
  const given = new URLSearchParams(location.hash.slice(1));
  const client = new Client(given.get('address') ?? '', { token: given.get('token') ?? '' });
  const ready = await new Promise<ReadyEvent>((resolve) => { client.on('ready', resolve); });
  const { room } = await client.createRoom({ name: 'of a page', kind: 'public' });
  const { seq } = await client.send({ room: room.id, text: 'hello' });
  client.close();
  return `${ready.user.name} ${seq}`;
}

window.said = say();
