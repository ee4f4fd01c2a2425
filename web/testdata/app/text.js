// What people write is only ever text: what becomes a link or a mention, and what does not.

import { state } from '/app/state.js';
import { parts } from '/app/views/line-text.js';
import { equal, ok } from '../check.js';

const text = (part) => (typeof part === 'string' ? part : [part.props.children].flat().map(text).join(''));
const links = (said) => parts(said, []).filter((p) => p.type === 'a').map((p) => p.props.href);

/** Nothing is lost or added, whatever is found in it. */
export async function whole() {
  for (const said of [
    '', ' ', '<b>x</b> & "y"', 'see https://a.example/b?c=d#e.', '@Ann @Annette, @ @Ann@Ann', 'https://', 'http://@', '\u202ehttps://a.example\u202c',
    'x'.repeat(4000), 'https://a.example/'.repeat(200), '@Ann '.repeat(500),
  ]) equal(parts(said, ['Ann', 'Annette', ''], ['ann', 'annette', 'who']).map(text).join(''), said);
}

export async function addresses() {
  for (const [said, ...want] of [
    ['http://a.example', 'http://a.example'], ['HTTPS://A.example/x', 'https://a.example/x'], ['(https://a.example/b)', 'https://a.example/b'],
    ['https://a.example/b_(c)', 'https://a.example/b_(c)'], ['https://a.example/(b)_(c))', 'https://a.example/(b)_(c)'], ['https://a.example/b)).', 'https://a.example/b'], ['https://a.example/b. And', 'https://a.example/b'], ['看https://a.example/b看看', 'https://a.example/b'],
    ['https://a.example/b,好', 'https://a.example/b'], ['"https://a.example"', 'https://a.example'], ['https://a.example http://b.example', 'https://a.example', 'http://b.example'],
    ['javascript:alert(1)'], ['data:text/html,x'], ['ftp://a.example'], ['file:///etc'], ['xhttps://a.example'], ['https://'], ['http://['], ['mailto:a@a.example'],
  ]) equal(links(said), want, said);
}

/** A link shows the host that it leads to, whatever was written to look like another. */
export async function hosts() {
  for (const [said, ...want] of [
    ['https://bank.example@evil.example/x'], ['https://bank.example:443@evil.example'], ['https://bank.example%2f@evil.example'],
    ['https://bank.example\\@evil.example', 'https://bank.example/@evil.example'],
    ['https://b\u0430nk.example', 'https://xn--bnk-6cd.example'], ['https://bank\uff0eexample', 'https://bank'],
    ['https://bank\u00adevil.example', 'https://bankevil.example'], ['https://ev\u2113.example/', 'https://evl.example/'],
    ['https://evil.example/\u202egro.knab//:sptth', 'https://evil.example/%E2%80%AEgro.knab//:sptth'],
    ['https://evil.example/\u2215bank.example', 'https://evil.example/%E2%88%95bank.example'], ['https://bank.example\u2215.evil.example', 'https://bank.xn--example-if0d.evil.example'],
    ['http://0x7f.1/', 'http://127.0.0.1/'], ['https://a.example:443/b', 'https://a.example/b'],
  ]) {
    equal(links(said), want, said);
    equal(parts(said, []).filter((p) => p.type === 'a').map(text), want, said);
  }
}

/** A link opens elsewhere and learns nothing of us. */
export async function apart() {
  const [link] = parts('https://a.example', []).filter((p) => p.type === 'a');
  equal([link.props.target, link.props.rel, Object.keys(link.props).sort()], ['_blank', 'noopener noreferrer', ['children', 'dir', 'href', 'rel', 'target']]);
}

/** The longer name counts, one's own stands out, and nobody is mentioned who was not. */
export async function mentioned() {
  state.me = { id: 'ann', name: 'Ann' };
  const found = parts('@Ann @Annette @Bob', ['Ann', 'Annette'], ['ann', 'annette']).filter((p) => p.type === 'span');
  equal(found.map((p) => [text(p), p.props.class.split(' ').includes('me')]), [['@Ann', true], ['@Annette', false]]);
  equal(parts('@Ann', []), ['@Ann']);
}

/** Text that was made to be slow is not: no line of 4000 letters takes more than a few ms. */
export async function fast() {
  const long = 'A'.repeat(62);
  const names = Array.from({ length: 50 }, (_, n) => `${long}${n}`);
  for (const nasty of [
    'https://'.repeat(500), 'https://a.b '.repeat(333), `https://a.example/${'.'.repeat(3900)}x`, `https://a.example/${'('.repeat(1950)}${')'.repeat(1950)}`,
    `https://${'.'.repeat(3900)}`, `https://a.example/${'.,;)'.repeat(970)}x`, '@'.repeat(4000), '@Ann'.repeat(1000), `@${long} `.repeat(62), '\u202e'.repeat(4000),
  ]) {
    let best = Infinity;
    for (let tries = 0; tries < 30 && best > 5; tries++) {
      const begun = performance.now();
      parts(nasty, names, names);
      best = Math.min(best, performance.now() - begun);
    }
    ok(best <= 5, `${best} ms for ${nasty.slice(0, 40)}`);
  }
}
