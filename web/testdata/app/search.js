// A search shows what was found for the words that are typed now, whatever answers come late, and what is still there.

import { h, render } from '/app/dom.js';
import { change, drawWith, state } from '/app/state.js';
import { setLanguage } from '/app/words.js';
import { beginOfDay, excerpt, hitsOf, isInName, searchOf, wordsOf } from '/app/model/search.js';
import { takeTyped } from '/app/model/search-filters.js';
import { moreHits, searchTexts } from '/app/actions/search.js';
import { SearchAll } from '/app/views/search.js';
import { equal, ok } from '../check.js';
import { historyOf, Line, text, texts, until } from './line.js';

await setLanguage('en');

const room = (id) => ({ id, name: id, kind: 'public', members: 2, last_seq: 9, created_at: 1, role: 'member', read_seq: 9, unread: 0 });
const hit = (seq, said = `line ${seq}`, place = { from: 0, to: 4 }, id = 'tea') => (
  { room: id, entry: text(seq, 'bob', { body: { text: said } }), places: [place] });
const cut = (said, from, to, more = {}) => excerpt({ room: 'tea', item: { body: { text: said, ...more } }, places: [{ from, to }] });
const inBrackets = (parts) => parts.map((part) => (part.found ? `[${part.text}]` : part.text)).join('');

function comesIn() {
  const line = new Line({ history: historyOf(() => texts(9)) });
  line.up([room('tea'), room('cake')]);
  return line;
}

function type(id, words) {
  searchOf(id).words = words;
  return searchTexts(id);
}

const found = (id = '') => hitsOf(searchOf(id)).map(({ item }) => item.seq);

/** The first place is visible at once, and no text is cut within a word or a character. */
export async function excerpts() {
  for (const [said, from, to, want] of [
    ['a lantern for the cake', 2, 9, 'a [lantern] for the cake'],
    ['lantern', 0, 7, '[lantern]'],
    ['in the old kitchen, where a lantern stood', 28, 35, '…old kitchen, where a [lantern] stood'],
    ['xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-lantern', 35, 42, '…[lantern]'],
    ['我的高铁五点才到，你们先吃，别等我，甜品留一份', 18, 20, '…才到，你们先吃，别等我，[甜品]留一份'],
    ['two\n\n lines   of\ttea', 17, 20, 'two lines of [tea]'],
    ['🥭🥭🥭🥭🥭🥭🥭🥭🥭🥭🥭🥭🥭🥭 tea', 29, 32, `…${'🥭'.repeat(11)} [tea]`],
  ]) equal(inBrackets(cut(said, from, to)), want, said);
  equal(inBrackets(excerpt({ room: 'tea', item: { body: { greeting: 'for the cook' } }, places: [{ from: 8, to: 12 }] })), 'for the [cook]');
  equal(inBrackets(excerpt({ room: 'tea', item: { body: { text: 'edited since' } }, places: [] })), 'edited since');
  const named = { room: 'tea', item: { body: { text: 'see', files: [{ kind: 'voice' }, { name: 'a.txt' }, { name: 'the minutes.pdf' }] } }, places: [{ from: 14, to: 21 }] };
  equal([inBrackets(excerpt(named)), isInName(named)], ['see a.txt the [minutes].pdf', true]);
  equal(isInName({ ...named, places: [{ from: 0, to: 3 }] }), false);
  ok(cut('tea '.repeat(2000), 0, 3).map((part) => part.text).join('').length <= 200, 'a long text stays long');
}

/** Signs alone find nothing. */
export async function noWords() {
  for (const [words, want] of [['  a b ', 'a b'], ['"!?" …', ''], ['', ''], ['７', '７'], [' 饭 ', '饭']]) equal(wordsOf({ words }), want, words);
}

/** What narrows a search goes to the server, and other filters are another search. */
export async function narrowed() {
  const line = comesIn();
  const search = searchOf('');
  search.filters = { from: { id: 'bob', name: 'Bob' }, room: 'cake', since: '2026-10-01', until: '2026-10-31', kind: 'file' };
  type('', 'line');
  const call = await line.asked('search');
  equal(call.data, {
    words: 'line', room: 'cake', from: 'bob', kind: 'file', after: new Date(2026, 9, 1).getTime(), before: new Date(2026, 10, 1).getTime(),
  });
  call.answer({ hits: [] });
  await until(() => search.pages.loaded, 'the answer');
  search.filters = {};
  equal([beginOfDay('0026-01-02') >= 0, beginOfDay('2024-02-28', 1)], [true, new Date(2024, 1, 29).getTime()]);
}

/** A filter that is typed leaves the words once it is complete and clear. */
export async function typedFilters() {
  comesIn();
  change(() => {
    for (const [id, name] of [['u1', 'Bob Brown'], ['u2', 'Bo'], ['u3', '小美']]) state.people.set(id, { id, name });
  });
  const search = searchOf('');
  const after = (words, done = true, room = '') => {
    Object.assign(search, { words, filters: {} });
    const unclear = takeTyped(search, room, done);
    const { from, ...filters } = search.filters;
    return [search.words.trim(), { ...filters, ...(from && { from: from.id }) }, unclear ?? null];
  };
  for (const [words, want] of [
    ['tea from:@brown ', ['tea', { from: 'u1' }, null]],
    ['from:"bob brown" tea', ['tea', { from: 'u1' }, null]],
    ['from:bo tea', ['tea', { from: 'u2' }, null]], // exactly so
    ['from:b tea', ['tea', {}, { name: 'from', query: 'b' }]], // two of them
    ['来自：小美 甜品', ['甜品', { from: 'u3' }, null]],
    ['发送人：小美 类型：文件 日期：2026-10-01 甜品', ['甜品', { from: 'u3', kind: 'file', since: '2026-10-01', until: '2026-10-01' }, null]],
    ['in:cake kind:Files has:nothing x', ['has:nothing x', { room: 'cake', kind: 'file' }, null]],
    ['after:2026-10-1 before:2026/11/01 x', ['x', { since: '2026-10-01', until: '2026-10-31' }, null]],
    ['on:2026-03-09', ['', { since: '2026-03-09', until: '2026-03-09' }, null]],
    ['after:2026-02-30 http://from:80 tofrom:me', ['after:2026-02-30 http://from:80 tofrom:me', {}, null]],
    ['kind:constructor toString:me', ['kind:constructor toString:me', {}, null]],
  ]) equal(after(words), want, words);
  equal(after('x from:bo', false), ['x from:bo', {}, null], 'the user may write on');
  equal(after('x in:cake ', true, 'tea'), ['x in:cake', {}, null], 'in a room');
  Object.assign(search, { words: '', filters: {} });
}

/** The answer to older words comes last, or never. */
export async function late() {
  const line = comesIn();
  type('', 'first');
  const first = await line.asked('search');
  equal(first.data, { words: 'first' });
  type('', ' second ');
  const second = await line.asked('search');
  equal(second.data, { words: 'second' });
  second.answer({ hits: [hit(3)] });
  await until(() => found().length === 1, 'the second');
  first.answer({ hits: [hit(1), hit(2)], behind: true });
  await new Promise((resolve) => { setTimeout(resolve, 50); });
  equal([found(), searchOf('').behind, searchOf('').pages.complete], [[3], false, true]);
  type('', '!');
  equal([found(), searchOf('').pages.loading], [[], false], 'no words');
}

/** Pages follow each other, also one without hits, and an error ends none of them. */
export async function pages() {
  const line = comesIn();
  type('tea', 'line');
  (await line.asked('search')).answer({ hits: [hit(5), hit(4)], next: 'n1' });
  await until(() => found('tea').length === 2, 'the first page');
  moreHits('tea');
  const second = await line.asked('search');
  equal(second.data, { words: 'line', room: 'tea', next: 'n1' });
  second.answer({ hits: [], next: 'n2' });
  await until(() => searchOf('tea').pages.next === 'n2', 'the second page');
  moreHits('tea');
  (await line.asked('search')).refuse({ code: 1005, message: 'not_member', temporary: false });
  await until(() => searchOf('tea').pages.error, 'the error');
  equal(found('tea'), [5, 4], 'what was found before');
  moreHits('tea');
  (await line.asked('search')).answer({ hits: [hit(4), hit(2)] });
  await until(() => searchOf('tea').pages.complete, 'the last page');
  equal([found('tea'), searchOf('tea').pages.error], [[5, 4, 2], null]);
  equal(found(''), [], 'of all rooms');

  type('tea', 'other');
  (await line.asked('search')).refuse({ code: 1005, message: 'not_member', temporary: false });
  await until(() => searchOf('tea').pages.error, 'the error of other words');
  equal(found('tea'), [], 'what was found for other words');
}

/** What is recalled is no hit, what is edited has no marks, and the hits of a room go with it. */
export async function amended() {
  const line = comesIn();
  type('', 'line');
  (await line.asked('search')).answer({ hits: [hit(9), hit(8), hit(7, 'line 7', { from: 0, to: 4 }, 'cake')] });
  await until(() => found().length === 3, 'the hits');
  line.push('tea', text(10, 'bob', { kind: 'recall', body: { target: 9 } }));
  line.push('tea', text(11, 'bob', { kind: 'edit', body: { target: 8, text: 'changed' } }));
  await until(() => found().length === 2 && hitsOf(searchOf(''))[0].item.body.text === 'changed', 'the changes');
  equal(inBrackets(excerpt(hitsOf(searchOf(''))[0])), 'changed');
  change(() => state.rooms.delete('cake'));
  equal(found(), [8]);
}

/** The view says where a hit is from, and what may be missing. */
export async function view() {
  const line = comesIn();
  change(() => { state.limits = { query_chars: 200 }; });
  const main = document.createElement('div');
  main.className = 'sheet-body';
  document.body.append(main);
  drawWith(() => render(h(SearchAll, null), main));
  change();
  await until(() => main.innerText.includes('Type whole words'), 'the help');
  const field = /** @type {HTMLInputElement} */ (main.querySelector('input'));
  field.value = 'line';
  field.dispatchEvent(new InputEvent('input', { isComposing: true }));
  field.value = '<b>line</b>';
  field.dispatchEvent(new InputEvent('input'));
  const call = await line.asked('search');
  equal(call.data, { words: '<b>line</b>' });
  call.answer({ hits: [hit(9, '<b>line</b>', { from: 3, to: 7 })], behind: true });
  await until(() => main.querySelector('mark'), 'the hit');
  equal([main.querySelector('mark').textContent, main.querySelectorAll('b').length], ['line', 0]);
  for (const said of ['tea', 'bob: <b>line</b>', '1 message found', 'The newest messages may be missing']) ok(main.innerText.includes(said), said);
  render(null, main);
  drawWith(() => {});
  main.remove();
}
