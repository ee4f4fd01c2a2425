// Above a timeline: how many red packets wait in the room, and what is new since the user was here last. Each leads there.
import { h } from '../dom.js';
import { t } from '../words.js';
import { number } from '../format.js';
import { waitingIn } from '../model/waiting.js';
import { Icon } from './icon.js';
import { missedWords } from './timeline-lines.js';

/** What waits in a timeline out of sight. */
export class OutOfSight {
  /** What was new when the room was opened; seq and at: of the first entry. @type {{count: number, seq: number, at: number}|null} */ missed = null;
  isTold = false; // screen readers
  isMissed = false; // that entry is above, and was not in sight yet
  wasSeen = false;
  waiting = 0; // packets
  next = 0; // seq of the packet to go to; 0: none is out of sight
  up = true; // it is above
  climbs = true; // the user goes upwards to the oldest packet, and then back

  /** Returns whether something has changed. @param {string} room @param {number} first @param {number} last the seqs of the first and the last row in sight */
  look(room, first, last) {
    const before = [this.isMissed, this.waiting, this.next, this.up];
    const seqs = waitingIn(room).map(({ seq }) => seq ?? 0);
    const above = seqs.findLast((seq) => seq < first) ?? 0;
    const below = seqs.find((seq) => seq > last) ?? 0;
    this.up = this.climbs ? above > 0 : !below;
    this.waiting = seqs.length;
    this.next = this.up ? above : below;
    const { missed } = this;
    this.wasSeen ||= missed !== null && first <= missed.seq && missed.seq <= last;
    this.isMissed = missed !== null && !this.wasSeen && missed.seq < first;
    return [this.isMissed, this.waiting, this.next, this.up].some((now, n) => now !== before[n]);
  }

  /** @param {OutOfSight['missed']} missed */
  miss(missed) {
    this.missed = missed;
    this.wasSeen = this.isTold = false;
  }

  /** What screen readers tell when the room is opened or seen again, once; '': nothing. */
  tell() {
    if (this.isTold) return '';
    const words = [this.isMissed && missedWords(/** @type {any} */ (this.missed)), this.next > 0 && packetWords(this.waiting)].filter(Boolean).join('. ');
    this.isTold = words !== '';
    return words;
  }

  /** The packet to go to. */
  turn() {
    this.climbs = this.up;
    return this.next;
  }

  /** The first new entry to go to. From there the way leads down, through the packets in between. */
  return() {
    this.climbs = false;
    return this.missed?.seq ?? 0;
  }
}

/** @param {number} count */
function packetWords(count) { return t('timeline.packetsWait', { count, shown: number(count) }); }

/** @param {{away: OutOfSight, toPacket: () => void, toMissed: () => void}} props */
export function PillsAbove({ away: { missed, isMissed, waiting, next, up }, toPacket, toMissed }) {
  return h('div', { class: 'pills-above' },
    isMissed && h('button', { class: 'pill', type: 'button', onClick: toMissed },
      h('span', { class: 'number' }, missedWords(/** @type {any} */ (missed))), h(Icon, { name: 'up', size: 18 })),
    next > 0 && h('button', { class: 'pill of-packets', type: 'button', onClick: toPacket },
      h(Icon, { name: 'envelope', size: 18 }), h('span', { class: 'number' }, packetWords(waiting)),
      h(Icon, { name: up ? 'up' : 'down', size: 18 })));
}
