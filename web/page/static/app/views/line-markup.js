// The small part of Markdown that texts may have: bold, italic, struck out, code, quotes, lists and links. It becomes elements here and never HTML, and
// what is no markup stays as it was written.
import { h } from '../dom.js';
import { linksIn, parts } from './line-text.js';

const deepest = 4; // levels of markup in markup
const marks = /`+|\*\*|~~|\*|_|\[/g;
const word = /[\p{L}\p{N}_]/u;

/**
 * The elements of a text.
 * @param {string} text @param {string[]} names of the mentioned users @param {string[]} [ids] theirs
 */
export function rich(text, names, ids = []) {
  const whole = { names, ids };
  const found = [];
  const lines = text.split('\n');
  let plain = /** @type {string[]} */ ([]);
  const flush = () => {
    if (plain.length) found.push(...inline(plain.join('\n'), whole, 0));
    plain = [];
  };
  for (let n = 0; n < lines.length;) {
    const block = blockAt(lines, n, whole);
    if (block) {
      flush();
      found.push(block.element);
      n = block.end;
    } else plain.push(lines[n++]);
  }
  flush();
  return found;
}

/** Whether a text has blocks, which need lines of their own. @param {any[]} elements as rich returns them */
export function hasBlocks(elements) { return elements.some(({ type }) => ['pre', 'blockquote', 'ul', 'ol'].includes(type)); }

const fence = /^```[\w+-]{0,20}\s*$/;
const quoted = /^> (.*)$/;
const bullet = /^ {0,3}[-*•] +(\S.*)$/;
const numbered = /^ {0,3}(\d{1,6})[.)] +(\S.*)$/;

/**
 * The block that begins at a line.
 * @param {string[]} lines @param {number} at @param {{names: string[], ids: string[]}} whole
 * @returns {{element: any, end: number}|undefined} end: the line behind it
 */
function blockAt(lines, at, whole) {
  if (fence.test(lines[at])) {
    const close = lines.findIndex((line, n) => n > at && /^```\s*$/.test(line));
    const end = close < 0 ? lines.length : close; // a folded text may lack its end
    if (end === at + 1) return undefined;
    return { element: h('pre', { dir: 'ltr' }, h('code', null, lines.slice(at + 1, end).join('\n'))), end: end + 1 };
  }
  const run = (/** @type {RegExp} */ form) => {
    const rows = [];
    for (let n = at; n < lines.length; n++) {
      const match = form.exec(lines[n]);
      if (!match) break;
      rows.push(match);
    }
    return rows;
  };
  let rows = run(quoted);
  if (rows.length) return { element: h('blockquote', null, inline(rows.map(([, text]) => text).join('\n'), whole, 0)), end: at + rows.length };
  rows = run(bullet);
  if (rows.length) return { element: h('ul', null, rows.map(([, text]) => h('li', null, inline(text, whole, 0)))), end: at + rows.length };
  rows = run(numbered);
  if (rows.length) return { element: h('ol', null, rows.map(([, number, text]) => h('li', { value: Number(number) }, inline(text, whole, 0)))), end: at + rows.length };
  return undefined;
}

/**
 * Text with markup within lines.
 * @param {string} text @param {{names: string[], ids: string[]}} whole @param {number} depth
 */
function inline(text, whole, depth) {
  const found = [];
  const kept = depth < deepest ? keptParts(text, whole) : [];
  const inKept = (/** @type {number} */ at) => kept.find(({ from, to }) => at >= from && at < to);
  const missing = new Set(); // marks without an end behind the present place
  let from = 0;
  if (depth < deepest) {
    const all = new RegExp(marks);
    for (let match = all.exec(text); match; match = all.exec(text)) {
      const [mark] = match;
      const within = inKept(match.index);
      if (within) {
        all.lastIndex = within.to;
        continue;
      }
      if (missing.has(mark)) continue;
      const piece = pieceAt(text, match.index, mark, inKept, whole, depth);
      if (!piece) continue;
      if (piece === 'missing') {
        missing.add(mark);
        continue;
      }
      if (from < match.index) found.push(...parts(text.slice(from, match.index), whole.names, whole.ids));
      found.push(...piece.elements);
      from = all.lastIndex = piece.end;
    }
  }
  if (from < text.length || !found.length) found.push(...parts(text.slice(from), whole.names, whole.ids));
  return found;
}

/** Addresses and mentions, in which there is no markup. @param {string} text @param {{names: string[], ids: string[]}} whole */
function keptParts(text, { names, ids }) {
  const places = linksIn(text).map(({ from, to }) => ({ from, to }));
  for (const name of new Set(ids.length ? names.filter(Boolean) : [])) {
    for (let at = text.indexOf(`@${name}`); at >= 0; at = text.indexOf(`@${name}`, at + 1)) places.push({ from: at, to: at + name.length + 1 });
  }
  return places;
}

const elements = { '**': 'strong', '*': 'em', _: 'em', '~~': 's' };

/**
 * What begins with a mark.
 * @param {string} text @param {number} at @param {string} mark @param {(at: number) => object|undefined} inKept
 * @param {{names: string[], ids: string[]}} whole @param {number} depth
 * @returns {{elements: any[], end: number}|'missing'|undefined} undefined: it is no markup; 'missing': nothing ends it
 */
function pieceAt(text, at, mark, inKept, whole, depth) {
  if (text[at - 1] === '\\') return undefined;
  if (mark === '[') return linkAt(text, at, whole, depth);
  const begin = at + mark.length;
  if (mark[0] === '`') {
    const end = text.indexOf(mark, begin);
    if (end < 0) return 'missing';
    const code = text.slice(begin, end);
    return code.trim() && text[end + mark.length] !== '`' ? { elements: [h('code', null, code)], end: end + mark.length } : undefined;
  }
  const before = text[at - 1] ?? ' ';
  const single = mark.length === 1;
  if (/\s/.test(text[begin] ?? ' ') || text[begin] === mark[0] || single && (word.test(before) || before === mark[0]) || /\d/.test(before)) return undefined;
  for (let end = text.indexOf(mark, begin + 1); end >= 0; end = text.indexOf(mark, end + 1)) {
    const behind = text[end + mark.length] ?? ' ';
    const closes = !/\s/.test(text[end - 1]) && !inKept(end) && (!single || !word.test(behind) && behind !== mark[0] && text[end - 1] !== mark[0]);
    if (!closes) continue;
    const inner = text.slice(begin, end);
    if (inner.includes('\n\n')) return undefined; // it does not go on in the next paragraph
    return { elements: [h(elements[/** @type {keyof typeof elements} */ (mark)], null, inline(inner, whole, depth + 1))], end: end + mark.length };
  }
  return 'missing';
}

const label = /\[([^[\]\n]{1,200})\]\((https?:\/\/[^\s()<>]{1,2000})\)/iy;

/** [text](address): the host to which it leads stands behind it, because the text may name another one. */
function linkAt(text, at, whole, depth) {
  label.lastIndex = at;
  const match = label.exec(text);
  const [link] = match ? linksIn(match[2]) : [];
  if (!match || !link || link.from !== 0 || link.to !== match[2].length) return undefined;
  const shown = linksIn(match[1]).length ? [match[1]] : inline(match[1], { names: [], ids: [] }, depth + 1).filter((part) => typeof part === 'string' || part.type !== 'a');
  return {
    elements: [
      h('a', { href: link.url, target: '_blank', rel: 'noopener noreferrer' }, h('bdi', null, shown)),
      h('span', { class: 'leads-to', dir: 'ltr' }, ` (${new URL(link.url).host})`),
    ],
    end: at + match[0].length,
  };
}
