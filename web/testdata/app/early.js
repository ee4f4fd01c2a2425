// Packets that open later, and packets whose shares wait.

import { state } from '/app/state.js';
import { isEarly, isHolding, untilOpen } from '/app/model/early.js';
import { packetView, setGrabbed, stageOf } from '/app/model/packets.js';
import { equal, ok } from '/test/check.js';

export async function opening() {
  const packet = (more) => /** @type {any} */ ({ id: 'p', ...more });
  equal([isEarly(packet({})), untilOpen(packet({}))], [false, 0]);
  equal([isEarly(packet({ opens_at: Date.now() + 60_000 })), isEarly(packet({ opens_at: Date.now() - 60_000 }))], [true, false]);
  equal([{}, { held: 2, held_until: Date.now() + 60_000 }, { held: 2, held_until: Date.now() - 60_000 }].map((more) => isHolding(packet(more))), [false, true, false]);
}

/** An answer that shares wait for others is not the end. */
export async function waiting() {
  state.me = { id: 'me', name: 'Me' };
  state.packets.clear();
  const view = packetView(/** @type {any} */ ({ id: 'p', room: 'r', from: { id: 'ann', name: 'Ann' }, mode: 'lucky', total: 100, count: 3 }));
  setGrabbed({ packet: 'p', outcome: 'empty', claimed: 1, count: 3, waiting: 2 });
  equal([view.state.status, view.state.claimed, view.answer, view.refusal], ['open', 1, null, { word: 'waiting', count: 2 }]);
  equal(stageOf(view), 'envelope');
  setGrabbed({ packet: 'p', outcome: 'empty', claimed: 3, count: 3 });
  ok(view.state.status === 'drained' && view.refusal === null, 'all shares are gone');
}
