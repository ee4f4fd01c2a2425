// Requests to the server. Each goes through the server API with the scopes of the key.
import { state, change } from './state.js';

export class Failure extends Error {
  constructor(status, error) {
    super(error?.message ?? String(status));
    this.status = status;
    this.code = error?.code ?? 0;
  }
}

/** Sends a request of the server API. path begins after /v1/server/. */
export function call(verb, path, { query = {}, body, reason, auto } = {}) {
  const search = new URLSearchParams(Object.entries({ ...query, reason }).filter(([, value]) => value !== undefined && value !== '').map(([name, value]) => [name, String(value)]));
  return send(verb, `api/${path}${search.size ? `?${search}` : ''}`, body, auto);
}

export function get(path, query = {}, options = {}) { return call('GET', path, { query, ...options }); }

/** An id as a part of a path. */
export function part(id) { return encodeURIComponent(id); }

async function send(verb, address, body, auto) {
  const answer = await fetch(address, {
    method: verb,
    headers: { 'X-Console': auto ? 'auto' : 'page', ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    body: body === undefined ? undefined : JSON.stringify(body),
    redirect: 'error',
  });
  const data = await answer.json().catch(() => ({}));
  if (answer.ok) return data;
  if (answer.status === 401 && address !== 'session' && state.session?.key) change({ session: { keys: true, ended: true }, dialog: undefined });
  throw new Failure(answer.status, data.error);
}

export async function readSession() { change({ session: await send('GET', 'session') }); }
export async function signIn(key, person) { change({ session: await send('POST', 'session', { key, person }) }); }
export async function signOut() { change({ session: await send('DELETE', 'session') }); }
