// A timeline of 20,000 lines: few are drawn, and what one reads stays where it is, whatever comes before, after and in it.

import { h, render } from '/app/dom.js';
import { state } from '/app/state.js';
import { emptyPages } from '/app/model/pages.js';
import { viewOf } from '/app/model/rooms.js';
import { answered, append, emptyTimeline } from '/app/model/timeline.js';
import { TimelineView } from '/app/views/timeline.js';
import { equal, ok } from '../check.js';

const me = { id: 'ann', name: 'Ann' };
const bob = { id: 'bob', name: 'Bob' };
const drawnAtMost = 120;

const entry = (seq) => ({
  seq, id: `e${seq}`, at: seq * 1000, from: seq % 5 ? bob : me, kind: 'text', body: { text: `line ${seq} ${'and more words '.repeat((seq * 7) % 40)}` },
});
const run = (from, to) => Array.from({ length: to - from + 1 }, (_, n) => entry(from + n));
const frames = (n = 2) => new Promise((done) => { requestAnimationFrame(() => (n > 1 ? frames(n - 1).then(done) : done())); });

/** Shown is a timeline on the page, loaded from one seq to another. */
class Shown {
  constructor(from, to, complete = true) {
    state.me = me;
    state.limits = {};
    state.contacts = { contact: 'everyone', blocked: [] };
    const timeline = emptyTimeline();
    answered(timeline, 'newest', { entries: run(from, to), more: !complete }, me.id, to);
    const room = { id: 'r', name: 'Room', kind: 'public', members: 300, last_seq: to, read_seq: 1e9, created_at: 0 };
    this.view = Object.assign(viewOf(room), { timeline, members: { ...emptyPages(), loaded: true } });
    timeline.loading = 'older'; // nobody is asked for more
    state.rooms.set('r', this.view);
    render(null, document.querySelector('main'));
    this.draw();
  }

  get box() { return document.querySelector('.timeline-box'); }

  get lines() { return [...document.querySelectorAll('.line')]; }

  draw() { render(h(TimelineView, { view: this.view }), document.querySelector('main')); }

  /** Where each line that is seen stands on the screen. */
  seen() {
    const { top, bottom } = this.box.getBoundingClientRect();
    return new Map(this.lines.map((l) => [l.dataset.seq, l.getBoundingClientRect()]).filter(([, r]) => r.bottom > top && r.top < bottom).map(([seq, r]) => [seq, r.top]));
  }

  get below() { return this.box.scrollHeight - this.box.scrollTop - this.box.clientHeight; }

  async scroll(by) {
    this.box.scrollTop += by;
    await frames();
  }

  add(seq) {
    ok(append(this.view.timeline, entry(seq), me.id), `no place for ${seq}`);
    this.draw();
  }
}

/** What was seen before and is seen still has not moved; a line may be in both only as a part. */
function still(before, after, what) {
  const both = [...before.keys()].filter((seq) => after.has(seq));
  ok(both.length > 1, `${what}: ${both.length} lines are seen still`);
  for (const seq of both.slice(1)) ok(Math.abs(before.get(seq) - after.get(seq)) < 1.5, `${what}: line ${seq} went from ${before.get(seq)} to ${after.get(seq)}`);
}

export async function atTheBottom() {
  const shown = new Shown(1, 20_000);
  await frames();
  ok(shown.below < 2, `it begins ${shown.below} px above the end`);
  ok(shown.lines.length < drawnAtMost, `${shown.lines.length} lines are drawn`);
  for (let seq = 20_001; seq <= 20_010; seq++) {
    shown.add(seq);
    ok(shown.below < 2, `${seq}: ${shown.below} px above the end`);
  }
  await frames();
  ok(shown.below < 2, `after the last one it is ${shown.below} px above the end`);
  equal(shown.lines.at(-1).dataset.seq, '20010');
}

/** Wherever one has gone, there are lines, few of them, and each stands once, in order. */
export async function anywhere() {
  const shown = new Shown(1, 20_000);
  await frames();
  for (const part of [0.5, 0.1, 0.9, 0, 0.3333, 1, 0.7]) {
    shown.box.scrollTop = part * (shown.box.scrollHeight - shown.box.clientHeight);
    await frames(3);
    const { top, bottom } = shown.box.getBoundingClientRect();
    const [first, last] = [shown.lines[0], shown.lines.at(-1)].map((l) => l.getBoundingClientRect());
    ok(first.top <= top + 70 && last.bottom >= bottom - 20, `at ${part} the lines go from ${first.top} to ${last.bottom}`);
    ok(shown.lines.length < drawnAtMost, `at ${part} ${shown.lines.length} lines are drawn`);
    const seqs = shown.lines.map((l) => Number(l.dataset.seq));
    equal(seqs, seqs.map((_, n) => seqs[0] + n), `at ${part}`);
  }
}

export async function stays() {
  const shown = new Shown(10_001, 20_000, false);
  const { timeline } = shown.view;
  await frames();
  await shown.scroll(-5000);
  let before = shown.seen();
  for (let seq = 20_001; seq <= 20_005; seq++) shown.add(seq);
  still(before, shown.seen(), 'new ones');
  await frames();
  still(before, shown.seen(), 'new ones, measured');

  answered(timeline, 'older', { entries: run(9901, 10_000), more: true }, me.id, 20_005);
  timeline.loading = 'older';
  shown.draw();
  still(before, shown.seen(), 'older ones');

  const above = shown.lines.findIndex((l) => l.getBoundingClientRect().bottom < shown.box.getBoundingClientRect().top - 20);
  append(timeline, { ...entry(20_006), kind: 'edit', body: { target: Number(shown.lines[above].dataset.seq), text: 'long\n'.repeat(40) } }, me.id);
  shown.draw();
  await frames();
  still(before, shown.seen(), 'a longer line above');

  shown.lines[above].querySelector('.bubble').style.paddingTop = '300px';
  await frames();
  still(before, shown.seen(), 'one that grows by itself');

  document.querySelector('#app').style.width = '420px';
  await frames();
  const [held] = before.keys();
  ok([...shown.seen().keys()].slice(0, 3).some((seq) => Math.abs(seq - held) < 3), 'another width');
  document.querySelector('#app').style.width = '';
  await frames();
}

/** At the very top older ones come above what one reads. */
export async function fromTheTop() {
  const shown = new Shown(5001, 5100, false);
  const { timeline } = shown.view;
  await frames();
  for (let first = 5001; first > 4001; first -= 50) {
    shown.box.scrollTop = 0;
    await frames(3);
    const before = shown.seen();
    answered(timeline, 'older', { entries: run(first - 50, first - 1), more: true }, me.id, 5100);
    timeline.loading = 'older';
    shown.draw();
    still(before, shown.seen(), `before ${first}`);
    await frames();
    still(before, shown.seen(), `before ${first}, measured`);
  }
}

/** Scrolling by so much moves what is seen by so much, through lines that have not been measured. */
export async function steady() {
  const shown = new Shown(1, 20_000);
  await frames();
  shown.box.scrollTop = shown.box.scrollHeight / 2;
  await frames(3);
  for (let n = 0; n < 60; n++) {
    const before = shown.seen();
    const by = n < 40 ? -97 : 203;
    await shown.scroll(by);
    still(new Map([...before].map(([seq, y]) => [seq, y - by])), shown.seen(), `step ${n}`);
  }
}

/** What the user sends is seen wherever the user was, also when they had jumped back. */
export async function ownIsSeen() {
  const shown = new Shown(1, 20_000);
  const { view } = shown;
  await frames();
  for (const newer of [false, true]) {
    await shown.scroll(-5000);
    view.timeline.newer = newer;
    view.timeline.loading = newer ? 'newest' : 'older';
    const key = `key ${newer}`;
    view.outbox = [...view.outbox, { key, kind: 'text', at: 1, status: 'sending', request: { room: 'r', key, text: `own ${newer}` } }];
    shown.draw();
    await frames();
    ok(shown.below < 2, `${key}: the list is ${shown.below} px above its end`);
    ok(shown.lines.at(-1).textContent.includes(`own ${newer}`), `${key}: the last line is ${shown.lines.at(-1).textContent}`);
    shown.draw();
    await shown.scroll(-3000);
    shown.draw();
    await frames();
    ok(shown.below > 2000, `${key}: the list has gone back to its end`);
  }
}
