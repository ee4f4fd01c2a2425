// Uploads of files, and links to them.
//
// An upload survives lost connections: after each one the server says how much it has, and the upload goes on from there.

import { LostError, RefusedError } from './errors.js';
import { heed, pause } from './waiting.js';

/**
 * @typedef {import('./link.js').Link} Link
 * @typedef {import('./calls.js').Calls} Calls
 * @typedef {import('./types.js').UploadOptions} UploadOptions
 * @typedef {import('./types.js').FileState} FileState
 * @typedef {import('./types.js').FileVersion} FileVersion
 */

const piece = 262_144; // bytes; the server stores whole pieces
const requestBytes = 4 * piece; // of one request: proxies often refuse bodies over 1 MiB
const uploadsAtOnce = 3; // the server's limit of a user
const silence = 45_000; // ms without progress after which a request is given up
const finishing = 150_000; // ms for which the server may process a file that it has whole
const heldPace = 10_000; // ms, at most, between two questions whether the host has released a file
const badTokens = 4; // answers in a row that refuse the token

const linksAtOnce = 100; // of one request
const gathering = 5; // ms in which links are asked for together
const minute = 60_000;
const linkLasts = 15 * minute;
const kept = 2000; // links

const unauthorized = [101, 109]; // unauthorized, token_expired
const conflict = 1008;

/** Uploads brings files to the server. */
export class Uploads {
  #link;
  #calls;
  #base;
  #running = 0;
  /** @type {(() => void)[]} */
  #waiting = [];

  /**
   * @param {string} address of the socket
   * @param {Link} link
   * @param {Calls} calls
   */
  constructor(address, link, calls) {
    this.#link = link;
    this.#calls = calls;
    this.#base = filesAddress(address);
  }

  /**
   * upload brings a file, and returns it when it can be sent.
   * @param {string} room
   * @param {Blob} content
   * @param {UploadOptions} options
   */
  async upload(room, content, options) {
    const { signal, onProgress = () => undefined } = options;
    const signals = signal ? [signal] : [];
    const leave = await this.#enter([this.#link.life, ...signals]);
    let id = '';
    try {
      const begun = await this.#calls.ask('begin_file', requestOf(room, content, options), { signal });
      id = begun.file.id;
      const state = await this.#bring(begun, room, content, signals, onProgress);
      leave();
      onProgress(content.size, content.size);
      return (await this.#released(state, room, signals)).file;
    } catch (error) {
      if (id && signal?.aborted) this.#calls.ask('cancel_file', { room, file: id }).catch(() => undefined); // the server removes it in a day anyway
      throw error;
    } finally {
      leave();
    }
  }

  /**
   * #released waits until the host has released the file.
   * @param {FileState} state
   * @param {string} room
   * @param {AbortSignal[]} signals
   */
  async #released(state, room, signals) {
    for (let wait = 1000; state.state === 'held'; wait = Math.min(wait * 1.5, heldPace)) {
      await pause(wait, [this.#link.life, ...signals]);
      state = await this.#calls.ask('file_state', { room, file: state.file.id }, { signal: signals[0] });
    }
    return state;
  }

  /**
   * #enter waits for one of the places of a user. It returns a function that leaves it.
   * @param {AbortSignal[]} signals
   */
  async #enter(signals) {
    while (this.#running >= uploadsAtOnce) {
      await heed(new Promise((resolve) => { this.#waiting.push(() => resolve(undefined)); }), signals);
    }
    for (const { aborted, reason } of signals) if (aborted) throw reason;
    this.#running++;
    let inside = true;
    return () => {
      if (inside) this.#running--;
      inside = false;
      this.#waiting.splice(0).forEach((go) => go());
    };
  }

  /**
   * #bring sends the content until the server has it whole.
   * @param {FileState} state
   * @param {string} room
   * @param {Blob} content
   * @param {AbortSignal[]} signals
   * @param {(sent: number, size: number) => void} onProgress
   */
  async #bring(state, room, content, signals, onProgress) {
    const file = state.file.id;
    const all = [this.#link.life, ...signals];
    let refusedTokens = 0;
    for (let tries = 0; state.state === 'coming';) {
      const before = state.received;
      try {
        await this.#link.up(signals); // without a socket there is no server, and the token may be old
        state = await this.#post(room, file, content, before, all, onProgress);
        refusedTokens = 0;
      } catch (error) {
        const badToken = error instanceof RefusedError && unauthorized.includes(error.code);
        const again = error instanceof LostError || error instanceof RefusedError && (error.temporary || error.code === conflict || badToken);
        refusedTokens = badToken ? refusedTokens + 1 : 0;
        if (!again || refusedTokens === badTokens) throw error;
        await pause(Math.max(waitAfter(tries), Number(error instanceof RefusedError && error.fields.retry_after_ms) || 0), all);
        state = await this.#calls.ask('file_state', { room, file }, { signal: signals[0] });
        onProgress(state.received, content.size);
      }
      tries = state.received > before ? 0 : tries + 1;
    }
    return state;
  }

  /**
   * #post sends the next part of the content, and returns the state that the server answers. A part that ends the file is answered when the server has
   * processed the file.
   * @param {string} room
   * @param {string} file
   * @param {Blob} content
   * @param {number} offset
   * @param {AbortSignal[]} signals
   * @param {(sent: number, size: number) => void} onProgress
   * @returns {Promise<FileState>}
   */
  async #post(room, file, content, offset, signals, onProgress) {
    const address = `${this.#base}${encodeURIComponent(room)}/${encodeURIComponent(file)}?offset=${offset}`;
    const part = content.slice(offset, offset + requestBytes);
    const send = globalThis.XMLHttpRequest ? byXHR : byFetch;
    const ends = offset + part.size >= content.size;
    const { status, text } = await send(address, this.#link.token, part, ends ? finishing : silence, signals, (sent) => onProgress(offset + sent, content.size));
    const answer = parsed(text);
    if (status === 200 && answer?.file) return answer;
    if (answer?.error) throw new RefusedError(answer.error);
    throw new LostError(`the upload is answered by status ${status}`); // by a proxy
  }
}

/**
 * @param {string} room
 * @param {Blob} content
 * @param {UploadOptions} options
 */
function requestOf(room, content, { kind, name, type, durationMs, wave }) {
  return {
    room, kind, size: content.size, ...(name && { name }), ...(kind === 'file' && type && { type }),
    ...(kind === 'voice' && { duration_ms: Math.max(1, Math.round(durationMs ?? 0)), wave: typeof wave === 'string' ? wave : inBase64(wave ?? []) }),
  };
}

/** @param {Iterable<number>} bytes */
function inBase64(bytes) {
  return btoa(String.fromCharCode(...bytes));
}

/** filesAddress returns where the files are, beside the socket. @param {string} address */
function filesAddress(address) {
  const socket = new URL(address);
  socket.protocol = socket.protocol.replace('ws', 'http');
  return new URL('files/', socket).href;
}

/** @param {string} text @returns {any} undefined: it is no JSON */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @param {number} tries */
function waitAfter(tries) {
  return 200 + Math.random() * Math.min(300 * 2 ** Math.min(tries, 10), 8000);
}

/**
 * byXHR sends a body with progress, which fetch does not tell.
 * @param {string} address
 * @param {string} token
 * @param {Blob} body
 * @param {number} patience  ms without progress
 * @param {AbortSignal[]} signals
 * @param {(sent: number) => void} onProgress
 * @returns {Promise<{status: number, text: string}>}
 */
async function byXHR(address, token, body, patience, signals, onProgress) {
  const request = new XMLHttpRequest();
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  let timer;
  const answer = new Promise((resolve, reject) => {
    const watch = () => {
      clearTimeout(timer);
      timer = setTimeout(() => reject(new LostError('the upload does not go on')), patience);
    };
    watch();
    request.upload.onprogress = (e) => {
      watch();
      onProgress(e.loaded);
    };
    request.onload = () => resolve({ status: request.status, text: request.responseText });
    request.onerror = request.onabort = () => reject(new LostError('the upload was cut'));
    request.open('POST', address);
    request.setRequestHeader('Authorization', `Bearer ${token}`);
    request.setRequestHeader('Content-Type', 'application/octet-stream');
    request.send(body);
  });
  return heed(answer, signals).finally(() => {
    clearTimeout(timer);
    request.abort();
  });
}

/**
 * byFetch sends a body where there is no XMLHttpRequest, as in Node.
 * @param {string} address
 * @param {string} token
 * @param {Blob} body
 * @param {number} patience  ms
 * @param {AbortSignal[]} signals
 * @returns {Promise<{status: number, text: string}>}
 */
async function byFetch(address, token, body, patience, signals) {
  const end = new AbortController();
  const timer = setTimeout(() => end.abort(), patience);
  const answer = fetch(address, {
    method: 'POST', body, headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/octet-stream' }, signal: end.signal,
  }).then(async (response) => ({ status: response.status, text: await response.text() }), () => {
    throw new LostError('the upload was cut');
  });
  return heed(answer, signals).finally(() => {
    clearTimeout(timer);
    end.abort();
  });
}

/**
 * FileLinks gets links to files, many at a time, and keeps them as long as they work.
 */
export class FileLinks {
  #calls;
  #base;
  /** @type {Map<string, {until: number, query: Promise<string>}>} */
  #links = new Map(); // by room and file, the oldest first
  /** @type {Map<string, Map<string, {resolve: (query: string) => void, reject: (error: any) => void}[]>>} */
  #wanted = new Map(); // by room and file: the callers that wait for the next request

  /**
   * @param {string} address of the socket
   * @param {Calls} calls
   */
  constructor(address, calls) {
    this.#calls = calls;
    this.#base = filesAddress(address);
  }

  /**
   * url returns the address of a file.
   * @param {string} room
   * @param {string} file
   * @param {FileVersion} version
   * @param {boolean} renew  the link that is kept does not work
   */
  async url(room, file, version, renew) {
    const place = `${room}/${file}`;
    let link = this.#links.get(place);
    if (!link || renew || link.until < Date.now()) {
      link = { until: Infinity, query: this.#ask(room, file) };
      this.#links.delete(place);
      this.#links.set(place, link);
      for (const oldest of this.#links.keys()) if (this.#links.size > kept) this.#links.delete(oldest);
      const failed = link;
      link.query.catch(() => {
        if (this.#links.get(place) === failed) this.#links.delete(place);
      });
    }
    return `${this.#base}${encodeURIComponent(room)}/${encodeURIComponent(file)}/${version}?${await link.query}`;
  }

  /**
   * #ask has the next request of the room ask for a file.
   * @param {string} room
   * @param {string} file
   * @returns {Promise<string>}
   */
  #ask(room, file) {
    let wanted = this.#wanted.get(room);
    if (!wanted) {
      this.#wanted.set(room, wanted = new Map());
      setTimeout(() => void this.#send(room), gathering);
    }
    const { promise, resolve, reject } = deferred();
    wanted.set(file, [...wanted.get(file) ?? [], { resolve, reject }]);
    return promise;
  }

  /** @param {string} room */
  async #send(room) {
    const wanted = [...this.#wanted.get(room) ?? []];
    this.#wanted.delete(room);
    for (let n = 0; n < wanted.length; n += linksAtOnce) void this.#request(room, wanted.slice(n, n + linksAtOnce));
  }

  /**
   * @param {string} room
   * @param {[string, {resolve: (query: string) => void, reject: (error: any) => void}[]][]} wanted
   */
  async #request(room, wanted) {
    try {
      const { queries, until } = await this.#calls.ask('file_links', { room, files: wanted.map(([file]) => file) });
      const lasts = Math.min(Math.max(until - Date.now() - minute, minute), linkLasts - minute); // the clock of this machine may be wrong
      wanted.forEach(([file, waiting], n) => {
        const link = this.#links.get(`${room}/${file}`);
        if (link) link.until = Date.now() + lasts;
        for (const { resolve } of waiting) resolve(queries[n]);
      });
    } catch (error) {
      for (const [, waiting] of wanted) for (const { reject } of waiting) reject(error);
    }
  }
}

/** @returns {{promise: Promise<string>, resolve: (value: string) => void, reject: (error: any) => void}} */
function deferred() {
  let resolve = (/** @type {string} */ _) => undefined;
  let reject = (/** @type {any} */ _) => undefined;
  const promise = new Promise((yes, no) => {
    resolve = (value) => void yes(value);
    reject = (error) => void no(error);
  });
  return { promise, resolve, reject };
}
