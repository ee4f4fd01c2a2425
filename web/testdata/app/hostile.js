// What others have written where the page looks things up: names that every object has, addresses that are none.

import { state } from '/app/state.js';
import { parse } from '/app/route.js';
import { inWords, setLanguage, t } from '/app/words.js';
import { sheetOf } from '/app/views/sheets.js';
import { emptyTimeline, answered, append } from '/app/model/timeline.js';
import { keepDraft, keptDraft } from '/app/model/kept.js';
import { mentionsOf } from '/app/views/composer-draft.js';
import { Row } from '/app/views/packet-years.js';
import { h, render } from '/app/dom.js';
import { equal, ok } from '../check.js';

await setLanguage('en');

const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'];

/** No address keeps the page from coming up. */
export async function addresses() {
  equal(parse('#/room/a%2Fb/message/7'), { room: 'a/b', link: null, sheet: { name: 'message', id: '7' } });
  equal(parse('#/room/%/%E0%A4%A'), { room: '%', link: null, sheet: { name: '%E0%A4%A' } });
  equal(parse('#/link/r-1.a%2Fb/packet/7'), { room: null, link: 'r-1.a/b', sheet: { name: 'packet', id: '7' } });
  equal(parse('#/link//constructor'), { room: null, link: null, sheet: { name: 'constructor' } });
  for (const name of names) equal(sheetOf(parse(`#/${name}`).sheet.name), undefined, name);
  ok(sheetOf('wallet'), 'a sheet that there is');
}

/** Words for what nobody knows are missing, and are still text. */
export async function words() {
  for (const name of names) {
    equal(t(`timeline.member.${name}`, { by: 'x' }), `timeline.member.${name}`);
    equal(inWords({ word: name, fields: { field: name } }), inWords({ word: 'unknown' }), name);
  }
  equal(inWords({ word: 'too_long', fields: { field: 'name' } }), 'That name is too long.');
  equal(inWords({ word: 'too_long', fields: { field: 'constructor' } }), 'That is too long.');
}

/** A reaction by such a name is one like others. */
export async function reactions() {
  const entry = (seq, kind, body) => ({ seq, id: `e${seq}`, at: seq, from: { id: 'bob', name: 'bob' }, kind, body });
  for (const emoji of names) {
    const timeline = emptyTimeline();
    answered(timeline, 'newest', { entries: [entry(1, 'text', { text: 'x' })], more: false }, 'ann', 1);
    append(timeline, entry(2, 'react', { target: 1, emoji, on: true, count: 1 }), 'ann');
    equal(Object.entries(timeline.items[0].body.reactions), [[emoji, 1]]);
    append(timeline, entry(3, 'react', { target: 1, emoji, on: false, count: 0 }), 'ann');
    equal(Object.entries(timeline.items[0].body.reactions), [], emoji);
  }
  ok(!('bob' in {}) && Object.keys(Object.prototype).length === 0, 'nothing has leaked');
}

/** So is a person by such a name who is mentioned, and a draft survives it. */
export async function people() {
  state.me = { id: 'ann', name: 'Ann' };
  for (const name of names) {
    const draft = { text: `@${name} hi`, replyTo: null, editing: null, mentions: { ...{}, [name]: 'bob' } };
    equal(mentionsOf(draft, draft.text), ['bob'], name);
    keepDraft('tea', draft);
    equal(mentionsOf(JSON.parse(JSON.stringify(keptDraft('tea'))), draft.text), ['bob'], name);
  }
}

/** What is written from right to left does not turn what stands beside it. */
export async function rightToLeft() {
  const name = 'שלום';
  equal(t('invite.send', { count: 1, room: name }), `Invite to \u2068${name}\u2069`);
  const packet = { id: 'p', from: { id: 'bob', name }, greeting: `\u202e${name}`, total: 5, count: 5, created_at: 1 };
  for (const [direction, texts] of Object.entries({ received: [name, packet.greeting], sent: [packet.greeting] })) {
    const at = document.createElement('div');
    render(h(Row, { row: { packet, state: { status: 'open', claimed: 0 } }, direction }), at);
    const isolated = [...at.querySelectorAll('bdi, [dir=auto]')].map((e) => e.textContent);
    equal(isolated, texts, direction);
  }
}
