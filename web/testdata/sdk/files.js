// Uploads and links against a server that loses answers, refuses, or has its host look at a file first.

import { RefusedError } from '/sdk/index.js';
import { equal, failure, ok, pause } from './check.js';
import { Script, inRoom, refusal } from './script.js';

const piece = 262_144;

/** Store is the server's part of uploads. trouble(request) says what happens to a request instead. */
class Store {
  files = new Map(); // by id: {size, received, state}
  posts = []; // {file, offset, size, token}
  cancelled = [];
  links = []; // of each request: the number of files
  open = 0; // files that are being uploaded
  most = 0;
  trouble = () => undefined;
  refuse = () => undefined; // answers a command instead

  constructor() {
    this.script = new Script(inRoom(0), (method, data) => this.refuse(method, data) ?? this[method]?.(data) ?? { data: {} });
    globalThis.XMLHttpRequest = request(this);
  }

  begin_file({ size, kind }) {
    const id = `f${this.files.size + 1}`;
    this.files.set(id, { size, kind, received: 0, state: 'coming' });
    this.most = Math.max(this.most, ++this.open);
    return this.file_state({ file: id });
  }

  file_state({ file }) {
    const { size, kind, received, state } = this.files.get(file);
    return { data: { file: { id: file, kind, type: '', size }, state, received } };
  }

  cancel_file({ file }) {
    this.cancelled.push(file);
    return { data: {} };
  }

  file_links({ files }) {
    this.links.push(files.length);
    return { data: { queries: files.map((file) => `mac=${file}.${this.links.length}`), until: Date.now() + 900_000 } };
  }

  /** put stores whole pieces, or all. */
  put(id, offset, size) {
    const file = this.files.get(id);
    if (offset !== file.received) return { status: 409, body: refusal(1008, 'conflict field=offset') };
    file.received = Math.min(file.size, offset + size);
    if (file.received === file.size) {
      file.state = file.then ?? 'ready';
      this.open--;
    }
    return { status: 200, body: this.file_state({ file: id }).data };
  }
}

/** request returns a class that stands for XMLHttpRequest. */
const request = (store) => class {
  upload = {};
  responseText = '';
  status = 0;

  open(method, address) { this.url = new URL(address); }

  setRequestHeader(name, value) { if (name === 'Authorization') this.token = value; }

  abort() { this.aborted = true; }

  async send(body) {
    const [file, offset] = [this.url.pathname.split('/').at(-1), Number(this.url.searchParams.get('offset'))];
    const post = { file, offset, size: body.size, token: this.token };
    const n = store.posts.push(post);
    await pause(1);
    const happens = await store.trouble(post, n);
    if (this.aborted) return;
    if (happens === 'cut') this.onerror();
    else if (happens !== 'silence') {
      this.upload.onprogress({ loaded: body.size });
      const { status, body: answer } = happens ?? store.put(file, offset, body.size);
      this.status = status;
      this.responseText = typeof answer === 'string' ? answer : JSON.stringify(answer);
      this.onload();
    }
  }
};

const content = (size) => new Blob([new Uint8Array(size)]);

/** A file is sent in requests of 1 MiB, with the token of the socket. */
export async function inParts() {
  const store = new Store();
  const client = store.script.client();
  const told = [];
  const size = 10 * piece + 5;
  const file = await client.upload('r', content(size), { kind: 'file', name: 'a.bin', type: 'text/plain', onProgress: (sent, of) => told.push([sent, of]) });
  equal(file, { id: 'f1', kind: 'file', type: '', size });
  equal(store.posts.map(({ offset, size: bytes }) => [offset, bytes]), [[0, 4 * piece], [4 * piece, 4 * piece], [8 * piece, 2 * piece + 5]]);
  equal(store.posts[0].token, 'Bearer token');
  equal(store.script.asked.find(({ method }) => method === 'begin_file').data, { room: 'r', kind: 'file', name: 'a.bin', type: 'text/plain', size });
  equal([told[0], told.at(-1)], [[4 * piece, size], [size, size]]);
}

/** The fields of a recording; a picture has no type. */
export async function kinds() {
  const store = new Store();
  const client = store.script.client();
  await client.upload('r', content(9), { kind: 'voice', durationMs: 5200.4, wave: new Uint8Array([0, 128, 255]) });
  await client.upload('r', content(9), { kind: 'picture', type: 'image/png', name: '' });
  const begun = store.script.asked.filter(({ method }) => method === 'begin_file').map(({ data }) => data);
  equal(begun, [{ room: 'r', kind: 'voice', size: 9, duration_ms: 5200, wave: 'AID/' }, { room: 'r', kind: 'picture', size: 9 }]);
}

/** After a cut the upload goes on where the server says. */
export async function goesOn() {
  const store = new Store();
  const client = store.script.client();
  store.trouble = (post, n) => {
    if (n === 1) store.files.get(post.file).received = 3 * piece; // some pieces are stored
    if (n === 3) store.put(post.file, post.offset, post.size); // the answer to the last request is lost
    return n === 1 || n === 3 ? 'cut' : undefined;
  };
  await client.upload('r', content(8 * piece), { kind: 'file', name: 'a' });
  equal(store.posts.map(({ offset }) => offset), [0, 3 * piece, 7 * piece]);
}

/** What is temporary, a wrong offset, and a proxy that is in trouble are tried again. */
export async function triesAgain() {
  const store = new Store();
  const client = store.script.client();
  const answers = [
    { status: 503, body: refusal(1000, 'unavailable', true) }, { status: 502, body: '<h1>Bad gateway</h1>' }, { status: 409, body: refusal(1008, 'conflict field=offset') },
    { status: 401, body: refusal(109, 'token_expired') },
  ];
  store.trouble = () => answers.shift();
  await client.upload('r', content(8), { kind: 'file', name: 'a' });
  equal(store.posts.length, 5);
}

/** A refusal comes back at once. A token that is refused again and again is one, too. */
export async function refused() {
  const store = new Store();
  const client = store.script.client();
  store.trouble = () => ({ status: 400, body: refusal(107, 'bad_request field=file') });
  const error = await failure(client.upload('r', content(8), { kind: 'picture' }));
  ok(error instanceof RefusedError && error.word === 'bad_request' && error.fields.field === 'file', String(error));
  equal([store.posts.length, store.cancelled], [1, []]);
  store.trouble = () => ({ status: 401, body: refusal(101, 'unauthorized') });
  equal((await failure(client.upload('r', content(8), { kind: 'picture' }))).word, 'unauthorized');
}

/** A held file is waited for; the host may refuse it. */
export async function held() {
  const store = new Store();
  const client = store.script.client();
  store.trouble = ({ file }) => { store.files.get(file).then = 'held'; };
  let asked = 0;
  store.refuse = (method, { file }) => {
    if (method !== 'file_state') return undefined;
    if (file === 'f2') return refusal(1001, 'not_found');
    if (++asked === 1) store.files.get(file).state = 'ready';
    return undefined;
  };
  equal((await client.upload('r', content(8), { kind: 'picture' })).id, 'f1');
  equal([asked, (await failure(client.upload('r', content(8), { kind: 'picture' }))).word], [1, 'not_found']);
}

/** A signal ends the upload at once, and the server is told. */
export async function cancelled() {
  const store = new Store();
  const client = store.script.client();
  const gone = new AbortController();
  store.trouble = () => { gone.abort(new Error('enough')); return 'silence'; };
  equal((await failure(client.upload('r', content(8), { kind: 'picture', signal: gone.signal }))).message, 'enough');
  while (!store.cancelled.length) await pause(1);
  equal(store.cancelled, ['f1']);
  equal((await failure(client.upload('r', content(8), { kind: 'picture', signal: gone.signal }))).message, 'enough');
  equal(store.files.size, 1);
}

/** No more than three uploads run, whatever becomes of them. */
export async function atOnce() {
  const store = new Store();
  const client = store.script.client();
  store.trouble = (_, n) => { if (n === 2) store.open--; return n === 2 ? { status: 400, body: refusal(107, 'bad_request field=file') } : undefined; };
  const all = await Promise.allSettled(Array.from({ length: 9 }, () => client.upload('r', content(8), { kind: 'picture' })));
  equal([all.filter(({ status }) => status === 'fulfilled').length, store.most], [8, 3]);
}

/** Links are asked for together, and kept. */
export async function links() {
  const store = new Store();
  const client = store.script.client();
  const names = Array.from({ length: 150 }, (_, n) => `f${n}`);
  const first = await Promise.all(names.map((name) => client.fileUrl('r', name, 'small')));
  equal(first[149], `http://${store.script.host}/v1/files/r/f149/small?mac=f149.2`);
  equal(store.links, [100, 50]);
  equal(await client.fileUrl('r', 'f3', 'middle'), first[3].replace('small', 'middle'));
  equal(store.links.length, 2);
  const again = await Promise.all([client.fileUrl('r', 'f3', 'small', { renew: true }), client.fileUrl('r', 'f3')]);
  equal(again.map((url) => new URL(url).search), ['?mac=f3.3', '?mac=f3.3']);
  store.refuse = () => refusal(1002, 'not_member');
  equal((await failure(client.fileUrl('r', 'new'))).word, 'not_member');
  store.refuse = () => undefined;
  equal(new URL(await client.fileUrl('r', 'new')).search, '?mac=new.4');
}
