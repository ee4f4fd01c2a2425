// The link owns the vendored SDK: its times, its words, and which of its tries one is in. It tells what the
// socket brings, in order, and nothing after the end.

import { ClosedError, LostError } from './errors.js';
import { heed } from './waiting.js';

/**
 * @typedef {import('./types.js').LinkEvent} LinkEvent
 * @typedef {import('./types.js').LinkState} LinkState
 * @typedef {import('./types.js').ClientOptions} ClientOptions
 *
 * @typedef {object} Heard  what the link tells
 * @property {(event: LinkEvent) => void} link
 * @property {(data: any) => void} connected
 * @property {(sub: {channel: string, streamPosition?: {offset: number, epoch: string}, wasRecovering: boolean,
 *   recovered: boolean, data?: any}) => void} subscribed
 * @property {(sub: {channel: string}) => void} unsubscribed
 * @property {(pub: {channel: string, offset?: number, data: any}) => void} publication
 * @property {(message: {data: any}) => void} message
 */

// Times of the SDK, in ms. Its own are too short for a server under load.
const answerWithin = 10_000;
const tokenWithin = 10_000;

// What the SDK says by itself when it gives up, in the codes of the wire.
/** @type {Record<number, number>} */
const closes = { 1: 3500, 2: 3501, 3: 1009 };

export class Link {
  /** @type {LinkState} */
  state = 'connecting';
  #again = false; // was connected
  #foretells = false;
  /** @type {{code?: number, reason?: string}} */
  #why = {}; // the last connection was lost
  #life = new AbortController(); // aborted when the client has ended, with the ClosedError
  #socket = new AbortController(); // aborted when the connection is lost
  /** @type {Set<() => void>} */
  #waiting = new Set(); // for a connection
  #tell;
  #sdk;

  /**
   * @param {string} address
   * @param {ClientOptions} options
   * @param {Heard} heard
   */
  constructor(address, options, heard) {
    this.#tell = heard.link;
    const Centrifuge = options.Centrifuge ?? /** @type {any} */ (globalThis).Centrifuge;
    if (!Centrifuge) throw new Error('load the vendored centrifuge before the client');
    const sdk = this.#sdk = new Centrifuge(address, {
      token: options.token ?? '', name: options.name ?? 'web', version: options.version ?? '', timeout: answerWithin,
      getToken: options.getToken ? tokenGetter(options.getToken, Centrifuge.UnauthorizedError) : null,
    });
    this.#foretell();
    sdk.on('connected', (/** @type {any} */ e) => this.#connected(e, heard));
    sdk.on('connecting', (/** @type {any} */ e) => this.#lost(e));
    sdk.on('disconnected', (/** @type {any} */ e) => this.end(new ClosedError(closes[e.code] ?? e.code, e.reason)));
    for (const name of /** @type {const} */ (['subscribed', 'unsubscribed', 'publication', 'message'])) {
      sdk.on(name, (/** @type {any} */ e) => this.state === 'connected' && heard[name](e));
    }
    queueMicrotask(() => { // whoever made the client may listen first
      if (this.state !== 'closed') sdk.connect();
    });
  }

  /** life is aborted when the client has ended. */
  get life() {
    return this.#life.signal;
  }

  /**
   * #foretell listens to the SDK's draw of when it tries again, which it does not say otherwise. The vendored file is of
   * one version, so the draw is there; else retryAt would be missing.
   */
  #foretell() {
    const draw = this.#sdk._getReconnectDelay;
    if (typeof draw !== 'function') return;
    this.#foretells = true;
    this.#sdk._getReconnectDelay = () => {
      const delay = draw.call(this.#sdk);
      if (this.state === 'connecting') this.#say({ ...this.#why, retryAt: Date.now() + delay });
      return delay;
    };
  }

  /** @param {{code?: number, reason?: string, retryAt?: number}} more */
  #say(more) {
    this.#tell({ state: this.state, again: this.#again, ...more });
  }

  /**
   * @param {{data?: any}} e
   * @param {Heard} heard
   */
  #connected(e, heard) {
    if (this.state === 'closed') return;
    if (!Array.isArray(e.data?.rooms) || !e.data.user) {
      this.end(new ClosedError(3501, 'the server is of another kind'));
      return;
    }
    this.state = 'connected';
    this.#socket = new AbortController();
    heard.connected(e.data);
    this.#again = true;
    this.#waiting.forEach((go) => go());
  }

  /** @param {{code: number, reason: string}} e */
  #lost(e) {
    if (this.state === 'closed') return;
    if (this.state === 'connected') this.#why = { code: e.code, reason: e.reason };
    this.state = 'connecting';
    if (!this.#again || !this.#foretells) this.#say(this.#why); // else the draw follows at once
    this.#socket.abort(new LostError('connection lost'));
  }

  /**
   * up waits until there is a connection.
   * @param {AbortSignal[]} signals
   */
  async up(signals) {
    while (this.state !== 'connected') {
      let go = () => undefined;
      const there = new Promise((resolve) => {
        go = () => void resolve(undefined);
      });
      this.#waiting.add(go);
      await heed(there, [this.life, ...signals]).finally(() => this.#waiting.delete(go));
    }
  }

  /**
   * rpc asks once. It is for those who are up; without an answer it fails with a LostError.
   * @param {string} method
   * @param {any} data
   * @returns {Promise<any>}
   */
  rpc(method, data) {
    const socket = this.#socket.signal;
    return new Promise((resolve, reject) => {
      // An answer that came right before the loss is still on its way through the SDK's promises.
      const lost = () => setTimeout(reject, 0, socket.reason);
      socket.addEventListener('abort', lost);
      this.#sdk.rpc(method, data).then((/** @type {any} */ answer) => resolve(answer.data), (/** @type {any} */ error) => {
        reject(error?.code >= 100 ? error : new LostError(String(error?.message ?? error))); // from 100 on it is the server's
      }).finally(() => socket.removeEventListener('abort', lost));
    });
  }

  /**
   * send tells the server something, if there is a connection.
   * @param {any} data
   */
  send(data) {
    if (this.state === 'connected') this.#sdk.send(data).catch(() => undefined); // it was offline after all
  }

  /**
   * end is for ever.
   * @param {ClosedError} why
   */
  end(why) {
    if (this.state === 'closed') return;
    this.state = 'closed';
    this.#life.abort(why);
    this.#sdk.disconnect();
    this.#say({ code: why.code, reason: why.reason });
  }
}

/**
 * tokenGetter makes of the host's function what the SDK understands. Only the network's own errors are worth another try.
 * @param {() => Promise<string|null|undefined>} getToken
 * @param {new (message: string) => Error} UnauthorizedError
 */
function tokenGetter(getToken, UnauthorizedError) {
  return async () => {
    /** @type {ReturnType<typeof setTimeout>|undefined} */
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(reject, tokenWithin, new DOMException('no token in time', 'TimeoutError'));
    });
    try {
      const token = await Promise.race([getToken(), late]);
      if (token) return token;
    } catch (/** @type {any} */ error) {
      // What fetch throws when nobody could be reached.
      if (error instanceof TypeError || error?.name === 'AbortError' || error?.name === 'TimeoutError') throw error;
    } finally {
      clearTimeout(timer);
    }
    throw new UnauthorizedError('no token');
  };
}
