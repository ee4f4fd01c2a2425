// What tests say of what they see, and an ear that takes a client's events one by one.

import { pushEvents } from '/sdk/methods.js';

/** equal compares values as JSON, whatever the order of their fields. */
export function equal(got, want, what = '') {
  const [a, b] = [got, want].map((value) => JSON.stringify(sorted(value)));
  if (a !== b) throw new Error(`${what}: got ${a}, want ${b}`);
}

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (!value || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)).map(([k, v]) => [k, sorted(v)]));
}

export function ok(holds, what) {
  if (!holds) throw new Error(what);
}

/** failure is what a promise is rejected with. */
export async function failure(promise) {
  const nothing = {};
  const error = await promise.then(() => nothing, (e) => e);
  ok(error !== nothing, 'it succeeded');
  return error;
}

/** soon fails when something takes too long. */
export function soon(promise, what, ms = 30_000) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`waited too long for ${what}`)), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const names = ['link', 'ready', 'entry', 'entered', 'left', 'skipped', 'seedMismatch', ...Object.values(pushEvents)];

/** Ear keeps what a client tells. */
export class Ear {
  heard = []; // {name, event} not taken yet
  #wake = () => undefined;

  constructor(client) {
    this.client = client;
    for (const name of names) {
      client.on(name, (event) => {
        this.heard.push({ name, event });
        this.#wake();
      });
    }
  }

  /** next takes events until one fits. */
  next(name, fits = () => true) {
    return soon(this.#next(name, fits), name);
  }

  async #next(name, fits) {
    for (;;) {
      const one = this.heard.shift();
      if (!one) {
        await new Promise((resolve) => {
          this.#wake = resolve;
        });
      } else if (one.name === name && fits(one.event)) {
        return one.event;
      }
    }
  }

  /** texts takes entries of a room, which must be the numbered texts; nothing else may have happened in the room. */
  async texts(room, from, to) {
    for (let i = from; i <= to; i++) {
      const { entry } = await this.next('entry', (e) => e.room === room);
      ok(entry.body.text === String(i), `heard ${JSON.stringify(entry)}, not the text ${i}`);
    }
  }
}
