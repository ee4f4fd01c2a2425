// A page's clients of the package centrifuge, and what each has heard. The test names a client by a number, calls the
// functions below, and gets what is heard by window.note, in order; window.token gives a client its next token.

const { Centrifuge, note, token } = globalThis;
const decoder = new TextDecoder();
const encoder = new TextEncoder();
const clients = new Map();

/** Set by the Protobuf build, whose payloads are bytes. */
let bytes = false;

const read = (data) => data instanceof Uint8Array ? decoder.decode(data) : JSON.stringify(data);
const written = (text) => bytes ? encoder.encode(text) : JSON.parse(text);

/** Connects. @param {{id: number, url: string, token: string, refreshes: boolean, bytes: boolean, patience: number}} o */
function open(o) {
  bytes = o.bytes;
  const getToken = async () => {
    const answer = await token(o.id);
    if (answer.refused) throw new Centrifuge.UnauthorizedError(answer.refused);
    if (answer.error) throw new Error(answer.error);
    return answer.token;
  };
  const client = new Centrifuge(o.url, {
    token: o.token, timeout: o.patience, maxServerPingDelay: 2 * o.patience, ...(o.refreshes && { getToken }),
  });
  const heard = (what, detail = {}) => note(JSON.stringify({ id: o.id, what, ...detail }));
  client.on('connected', (e) => heard('up', { data: read(e.data) }));
  client.on('connecting', (e) => { if (e.code !== 0) heard('again', { code: e.code }); }); // 0: it was told to connect
  client.on('disconnected', (e) => heard('over', { code: e.code }));
  client.on('subscribed', (e) => heard('in', {
    channel: e.channel, offset: e.streamPosition.offset, data: e.data && read(e.data), wasRecovering: e.wasRecovering, recovered: e.recovered,
  }));
  client.on('unsubscribed', (e) => heard('out', { channel: e.channel }));
  client.on('publication', (e) => heard('entry', { channel: e.channel, offset: e.offset, data: read(e.data) }));
  client.on('message', (e) => heard('message', { data: read(e.data) }));
  clients.set(o.id, client);
  client.connect();
}

/** A refusal by the server as the SDK shows it, or what the SDK itself has to say. */
const failed = (e) => e.code >= 100 ? { refused: { code: e.code, message: e.message, temporary: e.temporary === true } } : { error: `${e.code} ${e.message}` };

const call = (id, method, request) => clients.get(id).rpc(method, written(request)).then((r) => ({ reply: read(r.data) }), failed);

/** Sends a command over and over, a hundred at once, until so many are refused or one is not answered. */
async function flood(id, method, request, refusals) {
  const answers = [];
  const enough = () => answers.length >= 5000 || answers.some((a) => a.error) || answers.filter((a) => a.refused).length >= refusals;
  while (!enough()) answers.push(...await Promise.all(Array.from({ length: 100 }, () => call(id, method, request))));
  return answers;
}

const send = (id, data) => clients.get(id).send(written(data)).then(() => ({}), failed);

function native(id, command, channel) {
  const client = clients.get(id);
  const asked = {
    subscribe: () => subscribe(client, channel),
    publish: () => client.publish(channel, written('{}')),
    presence: () => client.presence(channel),
    presence_stats: () => client.presenceStats(channel),
    history: () => client.history(channel, { limit: 1 }),
  };
  return asked[command]().then(() => ({ error: 'it was not refused' }), failed);
}

/** Asks for a channel as if the server had not given it. The SDK tells of a refusal for good as of an end. */
function subscribe(client, channel) {
  const sub = client.newSubscription(channel);
  return new Promise((done, refused) => {
    sub.on('subscribed', done);
    sub.on('unsubscribed', (e) => refused({ code: e.code, message: e.reason }));
    sub.subscribe();
  }).finally(() => client.removeSubscription(sub));
}

/** Stops the whole page, as work that takes long does, until a server answers. @param {string} url */
function stall(url) {
  setTimeout(() => {
    const request = new XMLHttpRequest();
    request.open('GET', url, false);
    request.send();
  });
}

globalThis.driver = { open, call, flood, send, native, stall };
