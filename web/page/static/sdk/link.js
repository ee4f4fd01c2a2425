// The link owns the vendored SDK: its timeouts, its messages, and the state of the connection. It passes on what the
// socket receives, in order, and nothing after the client has ended.

import { ClosedError, LostError } from './errors.js';
import { heed } from './waiting.js';

/**
 * @typedef {import('./types.js').LinkEvent} LinkEvent
 * @typedef {import('./types.js').LinkState} LinkState
 * @typedef {import('./types.js').ClientOptions} ClientOptions
 *
 * @typedef {object} Heard  the handlers of the link
 * @property {(event: LinkEvent) => void} link
 * @property {(data: any) => void} connected
 * @property {(sub: {channel: string, streamPosition?: {offset: number, epoch: string}, wasRecovering: boolean,
 *   recovered: boolean, data?: any}) => void} subscribed
 * @property {(sub: {channel: string}) => void} unsubscribed
 * @property {(pub: {channel: string, offset?: number, data: any}) => void} publication
 * @property {(message: {data: any}) => void} message
 */

// Timeouts for the vendored SDK, in ms. Its default timeouts are too short for a server under load.
const answerWithin = 10_000;
const tokenWithin = 10_000;

const firstRooms = 20; // in the connect reply, so that it stays short; the command rooms lists the others

// Maps the codes with which the vendored SDK gives up to codes of the wire.
/** @type {Record<number, number>} */
const closes = { 1: 3500, 2: 3501, 3: 1009 };

export class Link {
  /** @type {LinkState} */
  state = 'connecting';
  #again = false; // has been connected at least once
  #foretells = false;
  /** @type {{code?: number, reason?: string}} */
  #why = {}; // why the last connection was lost
  #life = new AbortController(); // aborted when the client has ended, with the ClosedError
  #socket = new AbortController(); // aborted when the connection is lost
  /** @type {Set<() => void>} */
  #waiting = new Set(); // callers that wait for a connection
  #tell;
  #sdk;
  #token = '';

  /**
   * @param {string} address
   * @param {ClientOptions} options
   * @param {Heard} heard
   */
  constructor(address, options, heard) {
    this.#tell = heard.link;
    this.#token = options.token ?? '';
    const Centrifuge = options.Centrifuge ?? /** @type {any} */ (globalThis).Centrifuge;
    if (!Centrifuge) throw new Error('load the vendored centrifuge before the client');
    const WebSocket = options.WebSocket ?? null; // null: the SDK takes the global one
    if (!WebSocket && !globalThis.WebSocket) {
      throw new Error('there is no global WebSocket: set the option WebSocket, for example to the class of the npm package ws');
    }
    const sdk = this.#sdk = new Centrifuge(address, {
      token: options.token ?? '', name: options.name ?? 'web', version: options.version ?? '', timeout: answerWithin, websocket: WebSocket,
      data: { rooms: firstRooms },
      getToken: options.getToken ? tokenGetter(options.getToken, Centrifuge.UnauthorizedError, (token) => { this.#token = token; }) : null,
    });
    this.#foretell();
    sdk.on('connected', (/** @type {any} */ e) => this.#connected(e, heard));
    sdk.on('connecting', (/** @type {any} */ e) => this.#lost(e));
    sdk.on('disconnected', (/** @type {any} */ e) => this.end(new ClosedError(closes[e.code] ?? e.code, e.reason)));
    for (const name of /** @type {const} */ (['subscribed', 'unsubscribed', 'publication', 'message'])) {
      sdk.on(name, (/** @type {any} */ e) => this.state === 'connected' && heard[name](e));
    }
    queueMicrotask(() => { // the creator of the client may add listeners first
      if (this.state !== 'closed') sdk.connect();
    });
  }

  /** token is the newest one that was used to connect, for requests over HTTP. */
  get token() {
    return this.#token;
  }

  /** life is aborted when the client has ended. */
  get life() {
    return this.#life.signal;
  }

  /**
   * #foretell reads when the SDK will try again; the SDK has no other way to tell. The vendored file is of one fixed
   * version, so the function exists; otherwise retryAt is missing.
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
    if (!this.#again || !this.#foretells) this.#say(this.#why); // otherwise another event follows at once
    this.#socket.abort(new LostError('connection lost'));
  }

  /**
   * up resolves when there is a connection.
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
   * rpc sends a command once. It requires a connection; without an answer it fails with a LostError.
   * @param {string} method
   * @param {any} data
   * @returns {Promise<any>}
   */
  rpc(method, data) {
    const socket = this.#socket.signal;
    return new Promise((resolve, reject) => {
      // An answer that arrived just before the loss may still be pending in the SDK's promises.
      const lost = () => setTimeout(reject, 0, socket.reason);
      socket.addEventListener('abort', lost);
      this.#sdk.rpc(method, data).then((/** @type {any} */ answer) => resolve(answer.data), (/** @type {any} */ error) => {
        reject(error?.code >= 100 ? error : new LostError(String(error?.message ?? error))); // codes from 100 are the server's
      }).finally(() => socket.removeEventListener('abort', lost));
    });
  }

  /**
   * send sends a message without an answer, if there is a connection.
   * @param {any} data
   */
  send(data) {
    if (this.state === 'connected') this.#sdk.send(data).catch(() => undefined); // an error means that the client is offline
  }

  /**
   * end ends the client for good.
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
 * tokenGetter adapts the program's function to the SDK. Only errors of the network are retried.
 * @param {() => Promise<string|null|undefined>} getToken
 * @param {new (message: string) => Error} UnauthorizedError
 * @param {(token: string) => void} note gets each token
 */
function tokenGetter(getToken, UnauthorizedError, note) {
  return async () => {
    /** @type {ReturnType<typeof setTimeout>|undefined} */
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(reject, tokenWithin, new DOMException('no token in time', 'TimeoutError'));
    });
    try {
      const token = /** @type {string} */ (await Promise.race([getToken(), late]));
      note(token || '');
      if (token) return token;
    } catch (/** @type {any} */ error) {
      // fetch throws this error if the server could not be reached.
      if (error instanceof TypeError || error?.name === 'AbortError' || error?.name === 'TimeoutError') throw error;
    } finally {
      clearTimeout(timer);
    }
    throw new UnauthorizedError('no token');
  };
}
