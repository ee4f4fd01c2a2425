// A server in the page, which says what a test wants: what the real one says only when its engines are slow, or when its
// database comes from a backup. The vendored SDK is the real one; only the socket under it is not.

import { Client } from '/sdk/index.js';

const scripts = new Map(); // by host

/** Script is such a server. */
export class Script {
  asked = []; // {method, data, token, subs}
  socket = null; // the newest
  sent = []; // lines of the client
  unlisted = []; // rooms of the user that the connect reply leaves out

  /**
   * connect: the data of the connect reply; answer(method, data): {data}, {error} or nothing.
   */
  constructor(connect, answer = () => undefined) {
    this.connect = connect;
    this.answer = answer;
    this.epoch = 'e';
    this.host = `script-${scripts.size}.test`;
    scripts.set(this.host, this);
  }

  client(options = {}) {
    return new Client(`ws://${this.host}/v1/socket`, { token: 'token', ...options });
  }

  count(method) {
    return this.asked.filter((one) => one.method === method).length;
  }

  hear(command) {
    this.sent.push(command);
    if (command.connect) {
      this.asked.push({ method: 'connect', ...command.connect });
      this.say(this.greeting(command));
    } else if (command.refresh) {
      this.asked.push({ method: 'refresh', data: command.refresh });
      this.say({ id: command.id, refresh: { client: 'c', expires: true, ttl: 3600 } });
    } else if (command.rpc) {
      this.asked.push(command.rpc);
      const answer = this.answer(command.rpc.method, command.rpc.data, command.id);
      if (answer?.error) this.say({ id: command.id, error: answer.error });
      else if (answer) this.say({ id: command.id, rpc: answer });
    }
  }

  greeting({ id, connect }) {
    const subs = [...this.connect.rooms, ...this.unlisted].map((room) => [`room:${room.id}`, {
      recoverable: true, positioned: true, epoch: this.epoch, offset: room.last_seq,
      was_recovering: `room:${room.id}` in (connect.subs ?? {}),
    }]);
    return { id, connect: { client: 'c', ping: 25, pong: true, data: this.connect, subs: Object.fromEntries(subs), ...this.extra } };
  }

  /** say sends objects, each in a line, in one frame. */
  say(...objects) {
    this.socket.receive(objects.map((o) => JSON.stringify(o)).join('\n'));
  }

  message(data) {
    this.say({ push: { message: { data } } });
  }

  enter(room, seq, kind = 'text', body = { text: String(seq) }) {
    this.say(publication(room, seq, kind, body));
  }

  hangUp(code, reason = 'bye') {
    this.socket.finish(code, reason);
  }
}

export function publication(room, seq, kind = 'text', body = { text: String(seq) }) {
  const data = { seq, id: `e-${seq}`, at: 1, from: { id: 'bob', name: 'Bob' }, kind, body };
  return { push: { channel: `room:${room}`, pub: { offset: seq, data } } };
}

/** inRoom is the connect data of somebody in one room. */
export function inRoom(lastSeq) {
  const room = {
    id: 'r', name: 'room', kind: 'public', members: 1, last_seq: lastSeq, created_at: 1, role: 'member', read_seq: 0, unread: 0,
  };
  return {
    user: { id: 'ann', name: 'Ann' }, currency: { code: 'CNY', exponent: 2 }, balance: 10, next_commitment: 'c1', limits: {},
    rooms: [room], packet_states: [],
  };
}

export const refusal = (code, message, temporary = false) => ({ error: { code, message, temporary } });

const Real = globalThis.WebSocket;

/** A socket to a script; to any other host, a real one. */
class ScriptedSocket {
  readyState = 0;

  constructor(url, protocols) {
    const script = scripts.get(new URL(url).host);
    if (!script) return new Real(url, protocols ?? []);
    this.script = script;
    script.socket = this;
    setTimeout(() => {
      if (this.readyState > 0) return;
      this.readyState = 1;
      this.onopen?.();
    });
  }

  send(frame) {
    if (this.readyState === 0) throw new DOMException('still connecting', 'InvalidStateError');
    for (const line of frame.split('\n')) {
      setTimeout(() => this.readyState === 1 && this.script.hear(JSON.parse(line)));
    }
  }

  receive(data) {
    if (this.readyState === 1) this.onmessage?.({ data });
  }

  close() {
    this.finish(1000, '');
  }

  finish(code, reason) {
    if (this.readyState === 3) return;
    this.readyState = 3;
    setTimeout(() => this.onclose?.({ code, reason }));
  }
}

globalThis.WebSocket = ScriptedSocket;
