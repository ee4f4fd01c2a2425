// Clients of the npm package centrifuge on one page. The test names a client by a number and calls the functions below. It
// receives events in order by window.record. window.token returns a client's next token.

const { Centrifuge, record, token } = globalThis;
const decoder = new TextDecoder();
const encoder = new TextEncoder();
const clients = new Map();

/** Set by the Protobuf build, whose payloads are bytes. */
let bytes = false;

const decode = (data) => data instanceof Uint8Array ? decoder.decode(data) : JSON.stringify(data);
const encode = (text) => bytes ? encoder.encode(text) : JSON.parse(text);

/** Connects. @param {{id: number, url: string, token: string, refreshes: boolean, bytes: boolean, timeout: number}} o */
function open(o) {
  bytes = o.bytes;
  const getToken = async () => {
    const answer = await token(o.id);
    if (answer.refused) throw new Centrifuge.UnauthorizedError(answer.refused);
    if (answer.error) throw new Error(answer.error);
    return answer.token;
  };
  const client = new Centrifuge(o.url, {
    token: o.token, timeout: o.timeout, maxServerPingDelay: 2 * o.timeout, ...(o.refreshes && { getToken }),
  });
  const report = (event, detail = {}) => record(JSON.stringify({ id: o.id, event, ...detail }));
  client.on('connected', (e) => report('connected', { data: decode(e.data) }));
  client.on('connecting', (e) => { if (e.code !== 0) report('reconnecting', { code: e.code }); }); // 0 is the first connect
  client.on('disconnected', (e) => report('disconnected', { code: e.code }));
  client.on('subscribed', (e) => report('subscribed', {
    channel: e.channel, offset: e.streamPosition.offset, data: e.data && decode(e.data), wasRecovering: e.wasRecovering, recovered: e.recovered,
  }));
  client.on('unsubscribed', (e) => report('unsubscribed', { channel: e.channel }));
  client.on('publication', (e) => report('entry', { channel: e.channel, offset: e.offset, data: decode(e.data) }));
  client.on('message', (e) => report('message', { data: decode(e.data) }));
  clients.set(o.id, client);
  client.connect();
}

/** Returns a refusal by the server as the SDK shows it, or an error of the SDK itself. */
const failed = (e) => e.code >= 100 ? { refused: { code: e.code, message: e.message, temporary: e.temporary === true } } : { error: `${e.code} ${e.message}` };

const call = (id, method, request) => clients.get(id).rpc(method, encode(request)).then((r) => ({ reply: decode(r.data) }), failed);

/** Sends a command again and again, a hundred at once, until so many are refused or one is not answered. */
async function flood(id, method, request, refusals) {
  const answers = [];
  const enough = () => answers.length >= 5000 || answers.some((a) => a.error) || answers.filter((a) => a.refused).length >= refusals;
  while (!enough()) answers.push(...await Promise.all(Array.from({ length: 100 }, () => call(id, method, request))));
  return answers;
}

const send = (id, data) => clients.get(id).send(encode(data)).then(() => ({}), failed);

function native(id, command, channel) {
  const client = clients.get(id);
  const commands = {
    subscribe: () => subscribe(client, channel),
    publish: () => client.publish(channel, encode('{}')),
    presence: () => client.presence(channel),
    presence_stats: () => client.presenceStats(channel),
    history: () => client.history(channel, { limit: 1 }),
  };
  return commands[command]().then(() => ({ error: 'it was not refused' }), failed);
}

/** Subscribes to a channel as if the server had not done so. The SDK reports a permanent refusal as the subscription's end. */
function subscribe(client, channel) {
  const sub = client.newSubscription(channel);
  return new Promise((done, refused) => {
    sub.on('subscribed', done);
    sub.on('unsubscribed', (e) => refused({ code: e.code, message: e.reason }));
    sub.subscribe();
  }).finally(() => client.removeSubscription(sub));
}

/** Blocks the whole page, as long work does, until a server answers. @param {string} url */
function stall(url) {
  setTimeout(() => {
    const request = new XMLHttpRequest();
    request.open('GET', url, false);
    request.send();
  });
}

globalThis.driver = { open, call, flood, send, native, stall };
