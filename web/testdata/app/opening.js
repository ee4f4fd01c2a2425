// An envelope that is opened shows the amount as it is, and more gold the luckier the user was.

import { h, render } from '/app/dom.js';
import { change, drawWith, state } from '/app/state.js';
import { setLanguage } from '/app/words.js';
import { packetView, setGrabbed, setPacketState } from '/app/model/packets.js';
import { Opening } from '/app/views/opening.js';
import { equal, ok } from '../check.js';
import { until } from './line.js';

const me = { id: 'ann', name: 'Ann' };
await setLanguage('en');

/** Opens a packet of 10.00 in 10 shares, of which the user gets an amount. */
async function opened(id, amount, mode = 'lucky') {
  state.me = me;
  const packet = { id, room: 'r', from: { id: 'bob', name: 'Bob' }, mode, total: 1000, count: 10, greeting: 'x', created_at: 1, expires_at: 2 };
  const view = packetView(packet);
  const place = document.querySelector('main');
  render(null, place);
  drawWith(() => render(h(Opening, { view, n: Math.random() }), place));
  change();
  await until(() => place.querySelector('.opening-coin'), 'the coin');
  change(() => { view.grab = 'asking'; });
  await until(() => place.querySelector('.opening-coin').getAnimations().length, 'the coin turns');
  change(() => setGrabbed({ packet: id, outcome: 'won', amount, rank: 3, at: 5, claimed: 3, count: 10 }));
  await until(() => place.querySelector('.opening').dataset.open === 'yes', 'the envelope is open');
  return place;
}

const leaves = (place) => place.querySelectorAll('.opening-packet .leaf').length;

export async function growsWithLuck() {
  const counts = [];
  for (const [n, amount] of [10, 100, 500].entries()) {
    const place = await opened(`luck ${n}`, amount);
    const text = place.querySelector('.amount');
    ok(text.querySelector('.reel') && text.ariaHidden === 'true' && !leaves(place), 'the digits roll, and nothing else tells how lucky it was');
    await until(() => leaves(place), 'leaves');
    counts.push(leaves(place));
    equal([text.textContent, text.ariaHidden, text.querySelector('.reel')], [['¥0.10', '¥1.00', '¥5.00'][n], 'false', null]);
  }
  ok(counts[0] < counts[1] && counts[1] < counts[2], `leaves: ${counts}`);
}

/** That the share is the luckiest is known when all are taken. */
export async function crownsTheLuckiest() {
  const place = await opened('crown', 300);
  await until(() => leaves(place), 'the amount');
  ok(!place.querySelector('.opening-crown'), 'too early');
  const done = { packet: 'crown', status: 'drained', claimed: 10, luckiest: { user: 'ann', amount: 300, rank: 3 } };
  change(() => setPacketState(done));
  await until(() => place.querySelector('.opening-crown'), 'the crown');

  const known = await opened('known', 300);
  change(() => setPacketState({ ...done, packet: 'known' }));
  await until(() => state.packets.get('known').state.status === 'drained', 'the end');
  ok(!known.querySelector('.opening-crown'), 'before the digits rest');
  await until(() => known.querySelector('.opening-crown'), 'the crown');

  const other = await opened('none', 300);
  change(() => setPacketState({ ...done, packet: 'none', luckiest: { user: 'bob', amount: 400, rank: 1 } }));
  await until(() => state.packets.get('none').state.status === 'drained' && other.querySelector('.amount').textContent === '¥3.00', 'the end');
  ok(!other.querySelector('.opening-crown'), 'no crown for others');
}

export async function smallest() {
  const place = await opened('cent', 1);
  ok(place.textContent.includes('It’s the thought that counts'), place.textContent);
  const same = await opened('equal', 1, 'equal');
  ok(!same.textContent.includes('thought'), same.textContent);
}
