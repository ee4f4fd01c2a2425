// A line to a server that the test plays: it says when the line stands, what comes, and what calls come to. For orders of events
// that no real server can be made to keep.

import { enter } from '/app/session.js';
import { ok, soon } from '../check.js';

/** What stands in for the vendored SDK. */
class Socket {
  static UnauthorizedError = class extends Error {};

  hears = new Map();

  constructor(_, options) {
    this.options = options;
    Socket.made(this);
  }

  on(name, f) { this.hears.set(name, f); }

  connect() {}

  disconnect() {}

  async send() {}

  rpc(method, data) {
    return new Promise((resolve, reject) => { this.call({ method, data, answer: (reply) => resolve({ data: reply }), refuse: reject }); });
  }
}
globalThis.Centrifuge = Socket;

export const me = { id: 'ann', name: 'Ann' };
const none = { contacts: () => ({ contact: 'everyone', blocked: [] }), packets: () => ({ packets: [] }) }; // what each page asks by itself
const account = { currency: { code: 'CNY', exponent: 2 }, balance: 1000, next_commitment: 'c0' };

export class Line {
  calls = []; // that wait for an answer
  #wake = () => undefined;

  /**
   * @param {Record<string, (data: any) => any>} answers  what is answered at once, by method; other calls wait
   * @param {'token'|'guest'} by  how one comes in
   * @param {string} token  the first one
   */
  constructor(answers = {}, by = 'token', token = 'token') {
    Socket.made = (socket) => { this.socket = socket; };
    const known = { ...none, ...answers };
    enter(token, by);
    this.socket.call = (call) => {
      if (known[call.method]) call.answer(known[call.method](call.data));
      else this.calls.push(call);
      this.#wake();
    };
  }

  /** What the SDK is given when it asks for a token. @returns {Promise<string>} */
  token() { return this.socket.options.getToken(); }

  tell(name, event) { this.socket.hears.get(name)(event); }

  /** The line stands. @param {any[]} rooms as in a connect reply @param {boolean} [recovered] what was missed follows by itself */
  up(rooms, recovered = false) {
    this.tell('connected', { data: { user: me, limits: {}, rooms, ...account } });
    for (const room of rooms) {
      const streamPosition = { offset: room.last_seq, epoch: 'e' };
      this.tell('subscribed', { channel: `room:${room.id}`, streamPosition, wasRecovering: recovered, recovered });
    }
  }

  /** It is cut, and who waits for an answer asks again. */
  cut() {
    this.calls = [];
    this.tell('connecting', { code: 1, reason: 'cut' });
  }

  /** An entry comes. */
  push(room, entry) { this.tell('publication', { channel: `room:${room}`, offset: entry.seq, data: entry }); }

  /** The next call that waits. @param {string} method */
  asked(method) {
    return soon((async () => {
      for (;;) {
        const at = this.calls.findIndex((call) => call.method === method);
        if (at >= 0) return this.calls.splice(at, 1)[0];
        await new Promise((resolve) => { this.#wake = resolve; });
      }
    })(), method);
  }
}

/** until waits for something that follows by itself. */
export async function until(holds, what) {
  for (let n = 0; !holds() && n < 2000; n++) await new Promise((resolve) => { setTimeout(resolve, 5); });
  ok(holds(), what);
}

/** A text as it is pushed. */
export const text = (seq, from = 'bob', more = {}) => (
  { seq, id: `e${seq}`, at: 1000 + seq, from: { id: from, name: from }, kind: 'text', body: { text: `line ${seq}` }, ...more });

/** What history has of so many texts of somebody. */
export const texts = (n, from) => Array.from({ length: n }, (_, i) => text(i + 1, from));

/** history answers as a server that has these entries. */
export const historyOf = (entries) => ({ before = Infinity, after, limit = 50 }) => {
  const known = entries();
  const found = after === undefined ? known.filter((e) => e.seq < before).slice(-limit) : known.filter((e) => e.seq > after).slice(0, limit);
  return { entries: found, packet_states: [], more: after === undefined ? found[0]?.seq > 1 : found.at(-1)?.seq < known.length };
};
