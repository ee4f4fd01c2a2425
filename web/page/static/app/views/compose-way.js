// How a packet is given out: first come, by a draw, or as rain. Each is drawn, and said in one line. A draw also has a window, and a rest; a rain has waves.
import { h, Fragment } from '../dom.js';
import { t } from '../words.js';
import { duration, number } from '../format.js';
import { overOf, overs, waves, wavesOf, windows } from '../model/compose.js';
import { Choice } from './choice.js';

export function Way({ form, fill }) {
  return h(Fragment, null,
    h('fieldset', { class: 'ways' },
      h('legend', { class: 'only-read' }, t('compose.way')),
      ['first', 'draw', 'rain'].map((way) => h('label', { key: way, class: 'way' },
        h('input', { class: 'only-read', type: 'radio', name: 'compose-way', value: way, checked: way === form.way, onChange: () => fill({ way }) }),
        h(Picture, { way }),
        h('b', null, t(`compose.ways.${way}`)),
        h('span', { class: 'muted small' }, t(`compose.wayMeans.${way}`))))),
    form.way === 'rain' && h(RainFields, { form, fill }),
    form.way === 'draw' && h(Fragment, null,
      h(Choice, {
        name: 'compose-window', label: t('compose.window'), value: String(form.window), choose: (window) => fill({ window: Number(window) }),
        options: windows().map((s) => ({ value: String(s), label: duration(s * 1000) })),
      }),
      h(Choice, {
        name: 'compose-rest', label: t('compose.rest'), value: form.rest, choose: (rest) => fill({ rest }),
        options: ['refund', 'share'].map((value) => ({ value, label: t(`compose.rests.${value}`) })),
      })));
}

function RainFields({ form, fill }) {
  const most = wavesOf(form);
  const wins = [0, 1, 3].filter((n) => n < most);
  return h(Fragment, null,
    h(Choice, {
      name: 'compose-waves', label: t('compose.waves'), value: String(most), choose: (n) => fill({ waves: Number(n) }),
      options: waves().map((n) => ({ value: String(n), label: number(n) })),
    }),
    h(Choice, {
      name: 'compose-over', label: t('compose.over'), value: String(overOf(form)), choose: (s) => fill({ over: Number(s) }),
      options: overs(form).map((s) => ({ value: String(s), label: duration(s * 1000) })),
    }),
    h(Choice, {
      name: 'compose-wins', label: t('compose.maxWins'), value: String(wins.includes(form.maxWins) ? form.maxWins : 0), choose: (n) => fill({ maxWins: Number(n) }),
      options: wins.map((n) => ({ value: String(n), label: t('compose.wins', { count: n }) })),
    }));
}

const people = { // places around the envelope; those that win are gold
  first: [[25, 22], [36, 22], [47, 22], [58, 22]].map((place, i) => ({ place, wins: i < 2 })),
  draw: [[16, 8], [40, 5], [53, 20], [44, 37], [20, 38], [6, 23]].map((place, i) => ({ place, wins: i === 2 || i === 4 })),
};

/** A line of people whose first ones win; a ring of people, some of whom win; or envelopes that fall over people. */
function Picture({ way }) {
  if (way === 'rain') return h(RainPicture, null);
  const [x, y] = way === 'first' ? [4, 13] : [23, 13];
  return h('svg', { class: 'way-picture', viewBox: '0 0 64 44', 'aria-hidden': 'true', focusable: 'false' },
    h('rect', { class: 'way-envelope', x, y, width: 14, height: 18, rx: 2 }),
    h('path', { class: 'way-flap', d: `M${x} ${y + 4}q7 6 14 0` }),
    people[way].map(({ place: [cx, cy], wins }, i) => h('circle', { key: i, class: wins ? 'way-wins' : 'way-person', cx, cy, r: 4 })));
}

function RainPicture() {
  return h('svg', { class: 'way-picture', viewBox: '0 0 64 44', 'aria-hidden': 'true', focusable: 'false' },
    [[8, 10, -12], [26, 2, 8], [46, 9, -6]].map(([x, y, turn], i) => h('g', { key: i, transform: `rotate(${turn} ${x + 5} ${y + 7})` },
      h('rect', { class: 'way-envelope', x, y, width: 10, height: 13, rx: 2 }),
      h('path', { class: 'way-flap', d: `M${x} ${y + 3}q5 4 10 0` }))),
    [13, 26, 39, 52].map((cx, i) => h('circle', { key: cx, class: i === 1 ? 'way-wins' : 'way-person', cx, cy: 37, r: 4 })));
}
