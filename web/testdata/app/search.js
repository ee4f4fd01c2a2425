// A search shows what was found for the words that are typed now, whatever answers come late, and what is still there.

import { h, render } from '/app/dom.js';
import { change, drawWith, state } from '/app/state.js';
import { setLanguage } from '/app/words.js';
import { excerpt, hitsOf, searchOf, wordsOf } from '/app/model/search.js';
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
  ok(cut('tea '.repeat(2000), 0, 3).map((part) => part.text).join('').length <= 200, 'a long text stays long');
}

/** Signs alone find nothing. */
export async function noWords() {
  for (const [words, want] of [['  a b ', 'a b'], ['"!?" …', ''], ['', ''], ['７', '７'], [' 饭 ', '饭']]) equal(wordsOf({ words }), want, words);
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
