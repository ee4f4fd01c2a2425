// The user's money: the transfers, and the red packets of a year.
import { state, change, toast } from '../state.js';
import { client } from '../client.js';
import { addPage, emptyPages, renewHead } from '../model/pages.js';
import { packetView, setPacketState } from '../model/packets.js';
import { load } from './pages.js';
import { inWords } from '../words.js';

const page = 50;
const most = 100; // the largest page that the server returns

/** Loads the newest transfers before the known ones. */
export async function renewTransfers() {
  const { wallet } = state;
  await load(wallet, async () => {
    const got = await client.wallet({ limit: page });
    await learnPackets(got.transfers);
    return () => {
      noteAccount();
      state.dayLimits = got.limits;
      renewHead(wallet, got.transfers, got.next, idOf);
    };
  });
}

/** Sets limits of a day; -1 removes one. Returns whether it has worked. @param {{sent?: number, received?: number}} limits */
export async function setOwnLimits(limits) {
  try {
    const set = await client.setOwnLimits(limits);
    change(() => { state.dayLimits = set.limits; });
    return true;
  } catch (error) {
    toast(inWords(error));
    return false;
  }
}

/** The next page of transfers. */
export async function olderTransfers() {
  const { wallet } = state;
  if (!wallet.loaded || wallet.complete) return;
  await load(wallet, async () => {
    const got = await client.wallet({ limit: page, next: wallet.next });
    await learnPackets(got.transfers);
    return () => addPage(wallet, got.transfers, got.next, idOf);
  });
}

function idOf(transfer) { return transfer.id; }

/**
 * Updates the account, which the client has taken from an answer. The object stays the same, so a pending update is not
 * shown twice.
 */
export function noteAccount() {
  Object.assign(state.account, client.account.view());
}

/**
 * A transfer names its packet by id alone. The packets' senders are requested for all shares of a page at once. Without
 * an answer the list only shows less.
 */
async function learnPackets(transfers) {
  const shares = transfers.filter((m) => m.kind === 'claim' && m.packet && !state.packets.has(m.packet));
  if (!shares.length) return;
  const times = shares.map((m) => m.at);
  try {
    const span = { from: Math.min(...times), to: Math.max(...times) + 1 };
    const got = await client.packets({ direction: 'received', ...span, limit: most }, { patience: 5000 });
    got.packets.forEach(notePacket);
  } catch { /* it is needed for the texts only */ }
}

/** @param {{packet: any, state: any}} row of packets */
function notePacket(row) {
  packetView(row.packet);
  setPacketState(row.state);
}

/** The red packets of a year and direction, as far as read. @param {'sent'|'received'} [direction] @returns {import('../state.js').YearView} */
export function yearView(direction = state.years.direction) {
  const { year } = state.years;
  const name = `${direction}/${year}`;
  let view = state.years.views.get(name);
  if (!view) {
    view = { pages: emptyPages(), totals: null, earlier: false };
    state.years.views.set(name, view);
  }
  return view;
}

/** @param {{year?: number, direction?: 'sent'|'received'}} which */
export function showYear(which) {
  change(() => { Object.assign(state.years, which); });
  renewYear();
}

/** Loads the first page and the totals again, and the totals of the other direction. */
export async function renewYear() {
  const { direction } = state.years;
  const other = direction === 'sent' ? 'received' : 'sent';
  const [view, beside] = [yearView(), yearView(other)];
  const span = spanOf(state.years.year);
  const days = { utc_offset_min: -new Date(span.from).getTimezoneOffset() };
  await load(view.pages, async () => {
    const [got, others, before] = await Promise.all([
      client.packets({ direction, ...span, ...days, limit: page }),
      client.packets({ direction: other, ...span, ...days, limit: 1 }),
      client.packets({ direction, to: span.from, limit: 1 }),
    ]);
    return () => {
      got.packets.forEach(notePacket);
      view.totals = got.totals;
      beside.totals = others.totals;
      view.earlier = before.totals.count > 0;
      renewHead(view.pages, got.packets, got.next, packetOf);
    };
  });
}

/** The next page of the year. */
export async function moreOfYear() {
  const view = yearView();
  const { direction, year } = state.years;
  if (!view.pages.loaded || view.pages.complete) return;
  await load(view.pages, async () => {
    const got = await client.packets({ direction, ...spanOf(year), limit: page, next: view.pages.next });
    return () => {
      got.packets.forEach(notePacket);
      addPage(view.pages, got.packets, got.next, packetOf);
    };
  });
}

function packetOf(row) { return row.packet.id; }

/** A year in the user's time zone. @param {number} year */
function spanOf(year) { return { from: new Date(year, 0, 1).getTime(), to: new Date(year + 1, 0, 1).getTime() }; }
