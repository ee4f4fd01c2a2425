// A timeline shows what the server has, whatever is said, changed and taken back while its pages are on their way.

import { answered, append, emptyTimeline, failed, find } from '/app/model/timeline.js';
import { equal, ok } from '../check.js';

const me = 'ann';
const people = [me, 'bob', 'cid'];
const emojis = ['👍', '🎉'];

/** dice gives numbers below n, the same for the same seed. */
function dice(seed) {
  let at = seed;
  return (n) => {
    at = (Math.imul(at, 1664525) + 1013904223) >>> 0;
    return Math.floor((at / 2 ** 32) * n);
  };
}

/** Room is the server: what was said, in order, and how each line reads now. */
class Room {
  pushed = []; // as they were pushed
  lines = []; // as history has them

  constructor(roll) { this.roll = roll; }

  get last() { return this.lines.length; }

  say() {
    const { roll } = this;
    const from = people[roll(people.length)];
    const target = 1 + roll(this.last + 1);
    const text = this.lines[target - 1];
    const may = text?.kind === 'text' && !text.body.recalled;
    switch (roll(8)) {
      case 0: return may && this.amend(from, 'edit', { target, text: `changed ${this.last}` });
      case 1: return may && this.amend(from, 'recall', { target });
      case 2: case 3: return may && this.react(from, target);
      case 4: return this.add(from, 'member', { user: 'dan', change: 'invited', by: from });
      default: return this.add(from, 'text', { text: `said ${this.last}` });
    }
  }

  add(from, kind, body) {
    const seq = this.last + 1;
    const entry = { seq, id: `e${seq}`, at: 1000 + seq, from: { id: from, name: from }, kind, body };
    this.pushed.push(entry);
    this.lines.push({ ...entry, body: { ...body } });
  }

  amend(from, kind, body) {
    this.add(from, kind, body);
    const line = this.lines[body.target - 1];
    const next = kind === 'recall' ? { recalled: true } : { ...line.body, text: body.text, edited_at: 1000 + this.last };
    this.lines[body.target - 1] = { ...line, body: next, who: kind === 'recall' ? {} : line.who, by: kind === 'recall' ? from : undefined };
  }

  react(from, target) {
    const line = this.lines[target - 1];
    const emoji = emojis[this.roll(2)];
    const who = { ...line.who, [emoji]: new Set(line.who?.[emoji]) };
    const on = !who[emoji].delete(from);
    if (on) who[emoji].add(from);
    const count = who[emoji].size;
    this.add(from, 'react', { target, emoji, on, count });
    const reactions = { ...line.body.reactions, [emoji]: count };
    if (!count) delete reactions[emoji];
    this.lines[target - 1] = { ...line, who, body: { ...line.body, reactions } };
  }

  /** history as it is asked for on the wire. */
  history({ before, after, limit }) {
    const all = this.lines.map(({ who: _, by: __, ...line }) => line);
    if (after !== undefined) return { entries: all.slice(after, after + limit), more: all.length > after + limit };
    const end = Math.min(before === undefined ? all.length : before - 1, all.length);
    return { entries: all.slice(Math.max(0, end - limit), end), more: end > limit };
  }
}

/** Reader is one who looks at a room: the timeline and what is on its way to it. */
class Reader {
  timeline = emptyTimeline();
  told = 0; // entries that were pushed and have come
  asking = null;

  constructor(room, roll) {
    this.room = room;
    this.roll = roll;
  }

  hear() {
    if (this.told === this.room.last) return;
    const entry = this.room.pushed[this.told++];
    ok(append(this.timeline, entry, me), `no place for ${entry.seq} after ${this.timeline.last}`);
  }

  ask() {
    const { timeline: t, roll, room } = this;
    if (this.asking) return;
    const may = !t.loaded ? ['newest'] : ['around', ...(t.complete ? [] : ['older', 'older']), ...(t.newer ? ['newer', 'newer', 'newest'] : [])];
    const what = may[roll(may.length)];
    const where = { newest: {}, older: { before: t.first }, newer: { after: t.last }, around: { before: 2 + roll(Math.max(1, room.last)) } }[what];
    t.loading = what;
    this.asking = { what, where: { limit: 1 + roll(6), ...where }, page: null };
  }

  /** The server looks, and later the answer comes. */
  wait() {
    const { asking, timeline: t } = this;
    if (!asking) return;
    if (!asking.page) {
      asking.page = this.room.history(asking.where);
      return;
    }
    this.asking = null;
    if (this.roll(10) === 0) failed(t, new Error('unavailable'));
    else answered(t, asking.what, asking.page, me, this.told);
  }

  /** What one sees is one unbroken run, each line once. */
  check() {
    const { timeline: t } = this;
    const seqs = t.items.map((i) => i.seq);
    const want = this.room.pushed.filter((e) => e.seq >= t.first && e.seq <= t.last && !['edit', 'recall', 'react'].includes(e.kind)).map((e) => e.seq);
    if (t.loaded) equal(seqs, want, 'lines');
  }

  /** When all has come it is what the server has. */
  compare() {
    const { timeline: t, room } = this;
    ok(t.newer === t.last < room.last, `newer: ${t.newer} at ${t.last} of ${room.last}`);
    ok(t.complete === t.first <= 1, `complete: ${t.complete} at ${t.first}`);
    for (const item of t.items) {
      const { who, by, ...line } = room.lines[item.seq - 1];
      const { mine, ...shown } = item;
      const body = { ...item.body, reactions: item.body.reactions ?? {} };
      if (body.recalled) {
        ok(body.by?.id === by || t.newer, `line ${item.seq} was recalled by ${body.by?.id}, not ${by}`); // the recall may lie beyond the run
        delete body.by;
      }
      equal({ ...shown, body }, { ...line, body: { ...line.body, reactions: line.body.reactions ?? {} } }, `line ${item.seq}`);
      if (item.body.recalled || t.newer) continue; // one's own reactions may lie beyond the run
      equal([...mine ?? []].sort(), Object.keys(who ?? {}).filter((e) => who[e].has(me)).sort(), `own reactions to ${item.seq}`);
    }
  }
}

export async function anyOrder() {
  for (let seed = 1; seed <= 400; seed++) {
    const roll = dice(seed);
    const room = new Room(roll);
    const reader = new Reader(room, roll);
    try {
      for (let step = 0; step < 300; step++) {
        [() => room.say(), () => room.say(), () => reader.hear(), () => reader.hear(), () => reader.ask(), () => reader.wait()][roll(6)]();
        reader.check();
      }
      while (reader.told < room.last) reader.hear();
      while (reader.asking) reader.wait();
      reader.check();
      if (reader.timeline.loaded) reader.compare();
    } catch (error) {
      error.message = `seed ${seed}: ${error.message}`;
      throw error;
    }
  }
}

const entry = (seq, kind = 'text', body = { text: `line ${seq}` }, from = 'bob') => ({ seq, id: `e${seq}`, at: seq, from: { id: from, name: from }, kind, body });

/** What does not follow is not put there. */
export async function gap() {
  const t = emptyTimeline();
  answered(t, 'newest', { entries: [entry(1), entry(2)], more: false }, me, 2);
  ok(append(t, entry(2), me), 'one that is there already');
  ok(!append(t, entry(4), me), 'one that does not follow');
  equal([t.last, t.items.map((i) => i.seq)], [2, [1, 2]]);
}

/** Nothing is changed for others than its target, and who is not concerned keeps its identity. */
export async function identity() {
  const t = emptyTimeline();
  answered(t, 'newest', { entries: [entry(1), entry(2), entry(3)], more: false }, me, 3);
  const [one, two, three] = t.items;
  append(t, entry(4, 'edit', { target: 2, text: 'new' }), me);
  ok(t.items[0] === one && t.items[2] === three && t.items[1] !== two, 'identities');
  equal([two.body.text, t.items[1].body], ['line 2', { text: 'new', edited_at: 4 }]);
  append(t, { ...entry(5, 'recall', { target: 2 }), from: { id: 'cid', name: 'cid' } }, me);
  append(t, entry(6, 'edit', { target: 2, recalled: true }), me); // as history has an edit whose text is gone
  equal(t.items[1].body, { recalled: true, by: { id: 'cid', name: 'cid' } });
  equal([t.last, find(t, 5)], [6, -1]);
}

/** What comes while the newest page is waited for stands after it, once, whether the page has it or not. */
export async function meanwhile() {
  for (const known of [1, 2, 3]) {
    const t = emptyTimeline();
    t.loading = 'newest';
    ok(append(t, entry(2), me) && append(t, entry(3), me), 'taken');
    answered(t, 'newest', { entries: [1, 2, 3].slice(0, known).map((seq) => entry(seq)), more: false }, me, 3);
    equal([t.items.map((i) => i.seq), t.newer, t.loading, t.meanwhile], [[1, 2, 3], false, 'no', []], `page of ${known}`);
  }
}

/** A page may be ahead of what has been told: what it has of a line before it is told later. */
export async function ahead() {
  const t = emptyTimeline();
  answered(t, 'around', { entries: [entry(1), entry(2)], more: false }, me, 3);
  ok(t.newer, 'there is more');
  answered(t, 'newer', { entries: [entry(3), entry(4, 'recall', { target: 1 })], more: false }, me, 3);
  equal([t.newer, t.last, t.items[0].body], [false, 4, { text: 'line 1' }]);
  append(t, entry(4, 'recall', { target: 1 }), me);
  equal([t.last, t.items.length, t.items[0].body.recalled], [4, 3, true]);
}

/** A line that has come with its latest change does not go back to one before, when that is told too. */
export async function neverBack() {
  const t = emptyTimeline();
  answered(t, 'newest', { entries: [entry(1, 'text', { text: 'third', edited_at: 3 })], more: false }, me, 1);
  append(t, entry(2, 'edit', { target: 1, text: 'second' }), me);
  equal(t.items[0].body.text, 'third');
  append(t, entry(3, 'edit', { target: 1, text: 'third' }), me);
  append(t, entry(4, 'edit', { target: 1, text: 'fourth' }), me);
  equal(t.items[0].body, { text: 'fourth', edited_at: 4 });
}

/** The last seq counts for what is one's own, in whatever order the pages come. */
export async function ownReactions() {
  const t = emptyTimeline();
  const react = (seq, on) => entry(seq, 'react', { target: 1, emoji: '👍', on, count: on ? 1 : 0 }, me);
  answered(t, 'newest', { entries: [react(5, true)], more: true }, me, 5);
  answered(t, 'older', { entries: [react(4, false), react(3, true)].reverse(), more: true }, me, 5);
  answered(t, 'older', { entries: [entry(1, 'text', { text: 'x', reactions: { '👍': 1 } }), react(2, false)], more: false }, me, 5);
  equal([...t.items[0].mine], ['👍']);
}

/** An entry costs the same in a long timeline: ten times as many take about ten times as long. */
export async function cost() {
  const fill = (n) => {
    const t = emptyTimeline();
    answered(t, 'newest', { entries: [entry(1)], more: false }, me, 1);
    const begun = performance.now();
    for (let seq = 2; seq <= n; seq++) append(t, seq % 3 ? entry(seq) : entry(seq, 'edit', { target: seq - 1, text: 'y' }), me);
    return performance.now() - begun;
  };
  let best = Infinity;
  for (let tries = 0; tries < 5 && best > 400; tries++) best = Math.min(best, fill(40_000)); // a copy of the array for each would take seconds
  ok(best <= 400, `40,000 entries take ${best} ms`);
}
