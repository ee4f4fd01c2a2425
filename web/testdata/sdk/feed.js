// The feed tells every entry of a stay once and in order, or names it as skipped, whatever is pushed, lost, told twice or read
// from history in between.

import { Feed } from '/sdk/feed.js';
import { equal, ok } from './check.js';

/** dice gives numbers below n, the same for the same seed. */
function dice(seed) {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

const tick = () => new Promise((resolve) => setTimeout(resolve));
const line = (seq) => ({ entry: { seq, kind: 'text', body: {} } });

class Model {
  last = 10; // of the room
  member = false;
  inside = false; // was told so
  refused = false; // asked for history when out of it
  heard = 0;
  questions = []; // to history

  constructor(roll) {
    this.roll = roll;
    this.maxMissed = roll(2) ? Infinity : 5;
    this.feed = new Feed({
      queueLimit: 1 + roll(5), maxMissed: this.maxMissed, tell: (name, event) => this[name](event),
      read: (room, hole) => new Promise((answer) => this.questions.push({ hole, answer })),
    });
  }

  entered({ room }) {
    ok(!this.inside, 'entered twice');
    this.inside = true;
    this.refused = false;
    this.heard = room.last_seq;
  }

  left() {
    ok(this.inside, 'left without having been there');
    this.inside = false;
  }

  entry({ entry: { seq } }) {
    ok(this.inside && seq === this.heard + 1, `heard ${seq} after ${this.heard}, inside: ${this.inside}`);
    this.heard = seq;
  }

  skipped({ after, through }) {
    ok(this.inside && after === this.heard && through > after, `skipped ${after} to ${through} after ${this.heard}`);
    ok(this.maxMissed < Infinity || this.refused, 'skipped without need');
    this.heard = through;
  }

  enter() {
    this.feed.enter({ id: 'r', last_seq: this.last }, true);
    this.feed.reach('r', 'e', this.last, false);
    this.member = true;
  }

  leave() {
    this.feed.leave('r');
    this.member = false;
  }

  /** history answers one question; there is none for who is out. */
  history(page) {
    const question = this.questions.shift();
    if (!question) return;
    this.refused ||= !this.member;
    const lines = [];
    for (let seq = question.hole.after + 1; this.member && seq <= this.last && lines.length < page; seq++) lines.push(line(seq));
    question.answer(lines);
  }

  step() {
    switch (this.roll(9)) {
      case 0: case 1: return this.feed.push('r', line(++this.last));
      case 2: this.last++; return undefined;
      case 3: return this.feed.push('r', line(1 + this.roll(this.last)));
      case 4: return this.enter();
      case 5: return this.leave();
      case 6: return this.feed.reach('r', 'e', this.last, false);
      default: return this.history(1 + this.roll(3));
    }
  }
}

export async function everythingOnceAndInOrder() {
  for (let seed = 1; seed <= 300; seed++) {
    const m = new Model(dice(seed));
    try {
      for (let i = 0; i < 60; i++) {
        m.step();
        await null;
        if (m.roll(4) === 0) await Promise.resolve().then(() => null);
      }
      m.feed.reach('r', 'e', m.last, false);
      const due = m.member ? m.last : 0;
      m.leave();
      for (let n = 0; m.questions.length > 0; n++) {
        ok(n < 10_000, 'there is no end');
        m.history(100);
        if (m.questions.length === 0) await tick();
      }
      ok(!m.inside && m.heard >= due && m.feed.rooms().length === 0, `all is over at ${m.heard} of ${due}, and not all was told`);
    } catch (error) {
      throw new Error(`seed ${seed}: ${error.stack}`);
    }
  }
}

/** Rooms do not wait for each other, but for few at a time. */
export async function roomsGoOnMeanwhile() {
  const told = [];
  const questions = [];
  const feed = new Feed({
    queueLimit: 10, maxMissed: 100, tell: (name, { room, entry }) => told.push(`${room}${entry.seq}`),
    read: (room, hole) => new Promise((answer) => questions.push({ room, hole, answer })),
  });
  for (const id of 'abcdef') {
    feed.enter({ id, last_seq: 0 }, false);
    feed.push(id, line(2));
  }
  feed.enter({ id: 'x', last_seq: 0 }, false);
  feed.push('x', line(1));
  equal([told, questions.map((q) => q.room)], [['x1'], ['a', 'b', 'c', 'd']]);
  questions[1].answer([line(1)]);
  await tick();
  equal([told, questions.map((q) => q.room)], [['x1', 'b1', 'b2'], ['a', 'b', 'c', 'd', 'e']]);
  feed.stop();
  questions[0].answer([line(1)]);
  await tick();
  equal(told.length, 3, 'after the end');
}

/** Who was about to be put out, and came back before he was, was not put out for that reason later. */
export async function reasonsDoNotStay() {
  const told = [];
  const feed = new Feed({ queueLimit: 9, maxMissed: 9, tell: (name, event) => told.push(event), read: async () => [] });
  feed.enter({ id: 'r', last_seq: 0 }, false);
  feed.willLeave('r', 'kicked');
  feed.enter({ id: 'r', last_seq: 0 }, false);
  feed.leave('r');
  equal(told, [{ room: 'r', reason: '' }]);
}

/** An answer of history that comes after the room was numbered anew says nothing about the entries of the new numbers. */
export async function lateHistory() {
  for (const late of [[], [{ entry: { seq: 11, id: 'old' } }]]) {
    const told = [];
    const questions = [];
    const feed = new Feed({
      queueLimit: 10, maxMissed: 100,
      tell: (name, e) => told.push(name === 'skipped' ? `numbered anew through ${e.through} after ${e.after}` : e.entry.id),
      read: (room, hole) => new Promise((answer) => questions.push({ hole, answer })),
    });
    feed.enter({ id: 'r', last_seq: 10 }, false);
    feed.reach('r', 'before', 12, false); // asks for 11 and 12
    feed.reach('r', 'after', 10, false);
    feed.reach('r', 'after', 11, false);
    questions[0].answer(late);
    await tick();
    equal([told, questions.length], [['numbered anew through 10 after 0'], 2]);
    questions[1].answer([{ entry: { seq: 11, id: 'new' } }]);
    await tick();
    equal(told, ['numbered anew through 10 after 0', 'new']);
  }
}
