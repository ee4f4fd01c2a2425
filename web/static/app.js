// The plain page: one room, talk, and red packets. Whatever comes from others is put in as text, never as
// markup. The timeline is a map from seq to entry, so that it does not matter in which order history,
// recovered and live entries come.
'use strict';

const hallName = '大厅';
const $ = (id) => document.getElementById(id);

let client = null;   // Centrifuge, while signed in
let hall = null;     // the room's id
let my = null;       // the User that we are
let currency = { code: 'CNY', exponent: 2 };
const entries = new Map(); // seq -> list item
const packets = new Map(); // id -> {packet, state, card}

// ---- words and numbers

const sentences = {
  unavailable: 'The server is busy. Nothing is lost: try the same again.',
  internal: 'Something went wrong on the server. Try the same again.',
  insufficient_balance: 'There is not enough in your wallet.',
  limit_exceeded: 'That is more than this server allows.',
  too_long: 'That is too long.',
  bad_request: 'Please check what you have entered.',
  not_member: 'You are not in this room any more.',
  banned: 'You are banned from this room.',
  muted: 'You may not write here at the moment.',
  packet_finished: 'This packet is finished.',
  not_found: 'That does not exist.',
};

function inWords(err) {
  if (err.code === 1) return 'No answer in time. Try the same again.';
  const word = String(err.message || '').split(' ')[0];
  return sentences[word] || 'That did not work: ' + (err.message || err);
}

function money(amount) {
  const value = Number(amount) / 10 ** currency.exponent;
  return new Intl.NumberFormat(undefined, { style: 'currency', currency: currency.code, currencyDisplay: 'narrowSymbol', minimumFractionDigits: currency.exponent }).format(value);
}

// minor turns "12.34" into 1234 without passing through a fraction; NaN when it is no amount.
function minor(text) {
  const m = /^\s*(\d+)(?:[.,](\d*))?\s*$/.exec(text);
  if (!m || (m[2] || '').length > currency.exponent) return NaN;
  return Number(m[1] + (m[2] || '').padEnd(currency.exponent, '0'));
}

function element(name, className, text) {
  const e = document.createElement(name);
  if (className) e.className = className;
  if (text !== undefined) e.textContent = text;
  return e;
}

function time(at) {
  const e = element('time', 'when', new Date(at).toLocaleTimeString());
  e.dateTime = new Date(at).toISOString();
  e.title = new Date(at).toLocaleString();
  return e;
}

// ---- coming and going

async function rpc(method, data) {
  return (await client.rpc(method, data)).data;
}

async function enterAsGuest(name) {
  const response = await fetch('/v1/guests', { method: 'POST', body: JSON.stringify({ name }) });
  const answer = await response.json();
  if (response.status === 404) {
    $('guest').hidden = true;
    $('token').hidden = false;
    return;
  }
  if (!response.ok) throw answer.error;
  signIn(answer.token);
}

// signIn keeps the token for this tab only, so that two tabs can be two people.
function signIn(token) {
  sessionStorage.setItem('token', token);
  const url = location.origin.replace(/^http/, 'ws') + '/v1/socket';
  client = new Centrifuge(url, {
    token, name: 'page', version: '1',
    getToken: () => Promise.reject(new Centrifuge.UnauthorizedError('the token is over')),
  });
  client.on('connecting', (c) => link(c.code === 0 ? 'Connecting…' : 'Reconnecting… (' + c.reason + ')'));
  client.on('disconnected', (c) => signOut(c.code === 0 ? 'Signed out.' : 'Disconnected: ' + c.reason + '.'));
  client.on('connected', (c) => loading(() => connected(c.data)));
  client.on('subscribed', (c) => {
    if (hall && c.channel === 'room:' + hall && c.wasRecovering && !c.recovered) loading(reload);
  });
  client.on('publication', (c) => {
    if (hall && c.channel === 'room:' + hall) add(c.data);
  });
  client.on('message', (m) => receive(m.data));
  $('door').hidden = true;
  $('hall').hidden = false;
  $('signout').hidden = false;
  client.connect();
}

function signOut(why) {
  if (!client) return;
  const old = client;
  client = hall = my = null;
  old.disconnect();
  sessionStorage.removeItem('token');
  clear();
  $('balance').textContent = $('members').textContent = '';
  $('hall').hidden = $('signout').hidden = true;
  $('door').hidden = false;
  link(why);
}

function link(words) { $('link').textContent = words; }

// connected is called at each connect. The first one finds the hall; after a later one the SDK has brought
// what was missed, or says that it could not.
async function connected(data) {
  my = data.user;
  currency = data.currency;
  balance(data.balance);
  link('Connected as ' + my.name + '.');
  for (const state of data.packet_states) settle(state);
  if (hall) return;
  const room = await findHall(data.rooms);
  hall = room.id;
  $('room').textContent = room.name;
  members(room.members);
  await reload();
}

// findHall takes the oldest hall, so that people who made one at the same moment end up in one.
async function findHall(mine) {
  const oldest = (rooms) => rooms.filter((r) => r.name === hallName).sort((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1))[0];
  const find = async () => oldest((await rpc('find_rooms', { query: hallName, limit: 100 })).rooms);
  let room = await find();
  if (!room) {
    await rpc('create_room', { key: 'hall', name: hallName, kind: 'public' });
    room = await find();
  }
  return oldest(mine.filter((r) => r.id === room.id)) || (await rpc('join', { room: room.id })).room;
}

// ---- what comes from the server

function receive(message) {
  if (message.wallet) balance(message.wallet.balance);
  if (message.members && message.members.room === hall) members(message.members.count);
  if (message.packet_progress) {
    const p = packets.get(message.packet_progress.packet);
    if (p && p.state.status === 'open') {
      p.state.claimed = Math.max(p.state.claimed, message.packet_progress.claimed);
      draw(p);
    }
  }
  if (message.left && message.left.room === hall) {
    $('error').textContent = 'You are out of this room (' + message.left.reason + '). Reload the page to come back.';
  }
}

function balance(amount) { $('balance').textContent = 'Wallet ' + money(amount); }

function members(count) { $('members').textContent = count === 1 ? '1 member' : count + ' members'; }

async function reload() {
  clear();
  show(await rpc('history', { room: hall }));
}

// loading does what fills the room, and says so when that fails.
async function loading(action) {
  await guarded($('error'), action);
  if ($('error').textContent && !entries.size) $('empty').textContent = 'This room could not be loaded. Reload the page.';
}

async function earlier() {
  show(await rpc('history', { room: hall, before: Math.min(...entries.keys()) }));
}

function show(page) {
  for (const entry of page.entries) add(entry);
  for (const state of page.packet_states) settle(state);
  $('earlier').hidden = !page.more;
  $('empty').hidden = entries.size > 0;
  $('empty').textContent = 'Nothing has been said here yet. Say hello, or send a red packet.';
}

function clear() {
  entries.clear();
  packets.clear();
  $('timeline').replaceChildren();
  $('earlier').hidden = true;
  $('empty').hidden = false;
  $('empty').textContent = 'Loading…';
}

// add puts an entry into its place; one that is there already changes nothing.
function add(entry) {
  if (entries.has(entry.seq)) return;
  const item = draft(entry);
  const later = [...entries.keys()].filter((seq) => seq > entry.seq);
  const before = later.length ? entries.get(Math.min(...later)) : null;
  entries.set(entry.seq, item);
  const atEnd = innerHeight + scrollY >= document.body.scrollHeight - 80;
  $('timeline').insertBefore(item, before);
  $('empty').hidden = true;
  if (!before && atEnd) item.scrollIntoView();
}

function draft(entry) {
  const item = element('li');
  switch (entry.kind) {
    case 'text':
      item.append(element('span', 'who', entry.from.name), element('span', '', entry.body.text), time(entry.at));
      break;
    case 'packet':
      item.append(element('span', 'who', entry.from.name), element('span', '', 'sent a red packet'), time(entry.at), envelope(entry.body));
      break;
    case 'packet_done':
      item.className = 'note';
      item.append(element('span', '', ending(entry.body)), time(entry.at));
      settle(entry.body.state);
      break;
    default:
      item.className = 'note';
      item.textContent = entry.from.name + ': ' + entry.kind;
  }
  return item;
}

function ending(done) {
  const p = packets.get(done.packet);
  const whose = p ? 'The packet of ' + p.packet.from.name : 'A packet';
  const back = done.state.refunded ? ' ' + money(done.state.refunded) + ' went back.' : '';
  switch (done.reason) {
    case 'drained': return whose + ' is empty: everything was grabbed.';
    case 'cancelled': return whose + ' was cancelled.' + back;
    default: return whose + ' has expired.' + back;
  }
}

// ---- packets

function envelope(packet) {
  const p = packets.get(packet.id) || { state: { packet: packet.id, status: 'open', claimed: 0 } };
  p.packet = packet;
  p.card = element('div', 'packet');
  p.said = element('p', 'mine');
  p.claims = element('ol');
  p.grab = element('button', '', '开 Open');
  p.details = element('button', '', 'Who got what');
  p.status = element('p');
  p.grab.type = p.details.type = 'button';
  p.grab.addEventListener('click', () => busy(p.grab, p.said, () => grab(p)));
  p.details.addEventListener('click', () => busy(p.details, p.said, () => details(p)));
  const kind = packet.mode === 'equal' ? 'the same for all' : 'lucky, ' + packet.spread;
  p.card.append(element('p', 'greeting', packet.greeting),
    element('p', '', money(packet.total) + ' in ' + packet.count + ', ' + kind), p.status, p.said, p.grab, p.details, p.claims);
  packets.set(packet.id, p);
  draw(p);
  return p.card;
}

// settle takes a packet's state. It never goes back from done to open, and keeps our own share once known.
function settle(state) {
  const p = packets.get(state.packet) || { state: { status: 'open', claimed: 0 } };
  const mine = state.mine || p.state.mine;
  if (p.state.status === 'open') p.state = { ...state };
  p.state.mine = mine;
  packets.set(state.packet, p);
  draw(p);
}

function draw(p) {
  if (!p.card) return;
  const { state, packet } = p;
  const opened = state.claimed + ' of ' + packet.count + ' opened';
  const words = {
    open: opened + ', until ' + new Date(packet.expires_at).toLocaleTimeString(),
    drained: 'All opened',
    expired: 'Expired, ' + opened,
    cancelled: 'Cancelled',
  };
  p.status.textContent = words[state.status] + (state.refunded ? ', ' + money(state.refunded) + ' returned' : '');
  if (state.mine) p.said.textContent = 'You got ' + money(state.mine.amount) + ' (number ' + state.mine.rank + ')';
  p.grab.hidden = state.status !== 'open' || Boolean(state.mine);
  p.card.classList.toggle('done', state.status !== 'open');
}

async function grab(p) {
  const got = await rpc('grab', { packet: p.packet.id });
  if (got.balance !== undefined) balance(got.balance);
  p.state.claimed = Math.max(p.state.claimed, got.claimed);
  switch (got.outcome) {
    case 'won':
    case 'already':
      p.state.mine = { amount: got.amount, rank: got.rank, at: got.at };
      break;
    case 'empty':
      p.said.textContent = '手慢了,红包派完了 — you came too late, it is empty.';
      break;
    case 'expired':
      p.said.textContent = 'You came too late, it is over.';
      break;
    default:
      p.said.textContent = 'Not decided yet. Try again in a moment.';
  }
  draw(p);
}

async function details(p) {
  const d = await rpc('packet', { packet: p.packet.id, limit: 100 });
  settle(d.state);
  const best = d.state.luckiest ? d.state.luckiest.rank : 0;
  const lines = d.claims.map((c) => element('li', '',
    c.user.name + (c.amount === undefined ? '' : '  ' + money(c.amount)) + (c.rank === best ? '  luckiest' : '')));
  if (!lines.length) lines.push(element('li', '', 'Nobody yet'));
  if (d.more) lines.push(element('li', '', 'and more'));
  p.claims.replaceChildren(...lines);
}

// ---- sending

// keyOf gives the same content the same key until it has been answered, so that trying again never sends twice.
const keys = new Map();
function keyOf(content) {
  const name = JSON.stringify(content);
  if (!keys.has(name)) {
    keys.set(name, Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, '0')).join(''));
  }
  return keys.get(name);
}

async function sendOnce(method, content) {
  const reply = await rpc(method, { ...content, key: keyOf(content) });
  keys.delete(JSON.stringify(content));
  return reply;
}

async function say(form) {
  await sendOnce('send', { room: hall, text: form.elements.text.value });
  form.reset();
}

async function give(form) {
  const f = form.elements;
  const total = minor(f.total.value);
  if (!(total > 0)) throw new Error('the total is no amount of money');
  const equal = f.kind.value === 'equal';
  const content = {
    room: hall, total, count: Number(f.count.value), mode: equal ? 'equal' : 'lucky',
    ttl_s: Math.round(Number(f.minutes.value) * 60),
  };
  if (!equal) content.spread = f.kind.value;
  if (f.greeting.value) content.greeting = f.greeting.value;
  balance((await sendOnce('send_packet', content)).balance);
}

// ---- wiring

// guarded runs an action and puts what went wrong into words where it was asked for.
async function guarded(place, action) {
  place.textContent = '';
  try {
    await action();
  } catch (err) {
    place.textContent = inWords(err);
  }
}

// busy keeps a button from being pressed again before the answer has come.
async function busy(button, place, action) {
  button.disabled = true;
  await guarded(place, action);
  button.disabled = false;
}

function onSubmit(id, place, action) {
  const form = $(id);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    busy(form.querySelector('button'), $(place), () => action(form));
  });
}

onSubmit('guest', 'door-error', (form) => enterAsGuest(form.elements.name.value));
onSubmit('token', 'door-error', async (form) => signIn(form.elements.token.value.trim()));
onSubmit('say', 'error', say);
onSubmit('give', 'error', give);
$('earlier').addEventListener('click', () => busy($('earlier'), $('error'), earlier));
$('signout').addEventListener('click', () => signOut('Signed out.'));

if (sessionStorage.getItem('token')) signIn(sessionStorage.getItem('token'));
else $('door').hidden = false;
