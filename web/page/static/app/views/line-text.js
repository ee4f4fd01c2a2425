// Text written by users, always inserted as text: parts of it become links or mentions, nothing becomes markup.
import { h } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { saidInWords } from '../model/files.js';

// An address ends at a character that no address can start with, such as Chinese that follows without a space.
const address = /\bhttps?:\/\/[^\s<>"'`\u2018-\u201f\u3000-\u303f\u3400-\u9fff\uff00-\uffef]+/gi;
const trailing = '.,;:!?)]}*_~…';

/** @param {string} text @param {string[]} names of the mentioned users @param {string[]} [ids] theirs */
export function parts(text, names, ids) {
  const found = [];
  let at = 0;
  for (const { from, to, url } of linksIn(text)) {
    found.push(...mentions(text.slice(at, from), names, ids));
    found.push(h('a', { href: url, target: '_blank', rel: 'noopener noreferrer', dir: 'ltr' }, url));
    at = to;
  }
  found.push(...mentions(text.slice(at), names, ids));
  return found;
}

/** The addresses in a text. @param {string} text @returns {{from: number, to: number, url: string}[]} */
export function linksIn(text) {
  const found = [];
  for (const match of text.matchAll(address)) {
    const written = trimmed(match[0]);
    const url = real(written);
    if (url) found.push({ from: match.index, to: match.index + written.length, url });
  }
  return found;
}

/** Without punctuation at its end; a bracket that was opened in the address stays. @param {string} url */
function trimmed(url) {
  let end = url.length;
  while (trailing.includes(url[end - 1])) end--; // a regular expression would search for the end from each character
  const opened = url[end] === ')' && url.lastIndexOf('(', end) > url.lastIndexOf(')', end - 1);
  return url.slice(0, opened ? end + 1 : end);
}

/**
 * The address as the browser understands it: its host in Punycode, and other characters that could be taken for something else in
 * percent encoding. An address with a user name is no link, because the name can look like a host. @param {string} written
 */
export function real(written) {
  try {
    const { protocol, hostname, username, password, pathname, search, hash, origin, href } = new URL(written);
    if ((protocol !== 'http:' && protocol !== 'https:') || !hostname || username || password) return undefined;
    return pathname + search + hash === '/' && !written.endsWith('/') ? origin : href;
  } catch {
    return undefined;
  }
}

/** @param {string} text @param {string[]} names @param {string[]} [ids] */
function mentions(text, names, ids = []) {
  if (!text || !ids.length || !text.includes('@')) return [text];
  const whom = new Map();
  names.forEach((name, n) => { if (name) whom.set(`@${name}`, ids[n]); });
  const longest = [...whom.keys()].sort((a, b) => b.length - a.length);
  const found = [];
  let from = 0;
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    const name = longest.find((n) => text.startsWith(n, at));
    if (!name) continue;
    found.push(text.slice(from, at), h('span', { class: `mention ${whom.get(name) === state.me.id ? 'me' : ''}` }, h('bdi', null, name)));
    from = at + name.length;
    at = from - 1;
  }
  found.push(text.slice(from));
  return found;
}

/** An item as one short text line, for quotes. @param {import('../model/timeline.js').Item} item */
export function gist({ kind, body }) {
  if (kind === 'packet') return t('timeline.packet', { greeting: body.greeting });
  if (kind !== 'text') return t('timeline.earlier');
  if (body.recalled) return t(body.retired ? 'timeline.retired' : 'timeline.recalled');
  return saidInWords(body);
}
