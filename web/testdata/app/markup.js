// Markup in texts: what becomes an element, what stays as it was written, and what hostile texts cannot do.

import { h, render } from '/app/dom.js';
import { hasBlocks, rich } from '/app/views/line-markup.js';
import { state } from '/app/state.js';
import { equal, ok } from '../check.js';

state.me = { id: 'ann', name: 'Ann' };

/** html is the elements as the browser would write them. */
function html(said, names = [], ids = []) {
  const at = document.createElement('div');
  render(h('div', null, rich(said, names, ids)), at);
  return at.firstChild.innerHTML;
}

export async function elements() {
  for (const [said, want] of [
    ['**bold** and *thin*', '<strong>bold</strong> and <em>thin</em>'], ['_thin_, ~~gone~~', '<em>thin</em>, <s>gone</s>'], ['**a *b* c**', '<strong>a <em>b</em> c</strong>'],
    ['这是**重点**。', '这是<strong>重点</strong>。'], ['`a *b* <i>`', '<code>a *b* &lt;i&gt;</code>'], ['``a ` b``', '<code>a ` b</code>'],
    ['```js\nlet a = 1;\n  b\n```\nend', '<pre dir="ltr"><code>let a = 1;\n  b</code></pre>end'], ['```\nopen', '<pre dir="ltr"><code>open</code></pre>'],
    ['> one\n> **two**\nthree', '<blockquote>one\n<strong>two</strong></blockquote>three'], ['a\n- one\n- two', 'a<ul><li>one</li><li>two</li></ul>'],
    ['3. three\n4) four', '<ol><li value="3">three</li><li value="4">four</li></ol>'],
    ['[here](https://a.example/b)', '<a href="https://a.example/b" target="_blank" rel="noopener noreferrer"><bdi>here</bdi></a><span class="leads-to" dir="ltr"> (a.example)</span>'],
  ]) equal(html(said), want, said);
}

/** What is no markup stays, with all its signs. */
export async function asWritten() {
  for (const said of [
    '', '*', '**', '****', '***', '`', '``', '~~', '~~~~', '2*3*4', '2 * 3 * 4', '2**3**4', 'a_b_c', '__init__', '* ', '-', '- ', '>', '>_<', '>5', 'a > b', '1.5', '10.', '```', '```\n```',
    '*open', '**open *and* open'.slice(0, 6), 'snake_case_name', '¯\\_(ツ)_/¯', '[x]', '[x]()', '[x](y)', '[x](javascript:alert(1))', '[x](data:text/html,y)', '[x](https://)', '[x](https://u:p@a.example)',
    '[](https://)', '**a\n\nb**', '-5', '#tag', '\\*',
  ]) equal(html(said), h0(said), said);
}

const h0 = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Markup never becomes HTML, and an address stays whole. */
export async function hostile() {
  for (const said of ['**<img src=x onerror=alert(1)>**', '> <script>alert(1)</script>', '- <a href="javascript:x">', '`</code><b>`', '```\n</pre><b>\n```', '[<b>x</b>](https://a.example)', '*<svg/onload=x>*']) {
    const at = document.createElement('div');
    render(h('div', null, rich(said, [])), at);
    ok(!at.querySelector('img, script, b, svg, [onerror], [onload]') && [...at.querySelectorAll('a')].every((a) => a.href.startsWith('https:')), said);
  }
  const address = 'https://a.example/a_b_c/*d*/**e**/~~f~~/g';
  equal(html(`*see* ${address} now`).match(/href="([^"]*)"/)[1], address);
  equal(html('**https://a.example/b**'), '<strong><a href="https://a.example/b" target="_blank" rel="noopener noreferrer" dir="ltr">https://a.example/b</a></strong>');
  ok(html('[https://bank.example](https://evil.example)').endsWith('<bdi>https://bank.example</bdi></a><span class="leads-to" dir="ltr"> (evil.example)</span>'), 'the host is not said');
  ok(html('[bank](https://b\u0430nk.example)').endsWith(' (xn--bnk-6cd.example)</span>'), 'a host that looks like another');
}

/** A mentioned name may have the signs of markup. */
export async function mentioned() {
  equal(html('hi @*star* and *x*', ['*star*'], ['bob']), 'hi <span class="mention "><bdi>@*star*</bdi></span> and <em>x</em>');
  equal(html('**@Ann**', ['Ann'], ['ann']), '<strong><span class="mention me"><bdi>@Ann</bdi></span></strong>');
}

/** Long texts of signs alone come to an end, and lose nothing. */
export async function long() {
  for (const sign of ['*', '**a ', '_a ', '`', '[', '[a](', '~~', '> ', '- a\n', '*a **b ', '@a_', 'https://a.example/_*', '*a* ']) {
    const said = sign.repeat(8000 / sign.length);
    ok(rich(said, ['a_'], ['bob']).length > 0, sign);
  }
  const deep = '**_'.repeat(200) + 'x' + '_**'.repeat(200);
  ok(html(deep).length >= deep.length, 'lost');
}

export async function blocks() {
  for (const [said, want] of [['a **b** `c`', false], ['a\n- b', true], ['> b', true], ['```\nb\n```', true]]) equal(hasBlocks(rich(said, [])), want, said);
}
