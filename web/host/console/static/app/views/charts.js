// Figures of the last 24 hours. Each chart is one line, drawn by hand, with its last and its highest value in words.
import { h } from '../dom.js';
import { t } from '../words.js';
import { get } from '../api.js';
import { count, money, span } from '../format.js';
import { Load } from '../parts.js';

const every = 60_000;
const [width, height] = [288, 60];

/** What is drawn: a name, the value of a point (undefined: unknown), and how the value is shown. */
const figures = [
  ['sockets', (p) => p.sockets, count],
  ['won', (p) => p.won, count],
  ['missed', (p) => p.missed, count],
  ['failed', (p) => p.failed, count],
  ['p99', (p) => p.grab_p99_us, (us) => span(us / 1000)],
  ['escrow', (p) => p.escrow, money],
];

export function charts() {
  return [h('h2', null, t('charts.title')), h(Load, { of: 'charts', every, load: (auto) => get('charts', {}, { auto }), show: (day) => day.points.length
    ? h('div', { class: 'cards charts' }, figures.map(([name, value, shown]) => chart(day, name, value, shown)))
    : h('p', { class: 'muted' }, t('charts.none')) })];
}

function chart(day, name, value, shown) {
  const values = day.points.map(value).filter((v) => v !== undefined);
  const most = Math.max(0, ...values);
  const newest = day.points[day.points.length - 1];
  const last = newest.at >= day.from + (24 * 3600 - 2 * day.step_s) * 1000 ? value(newest) : undefined; // of now, not of the time before an outage
  return h('figure', { class: 'card flat' },
    h('figcaption', null, h('b', null, last === undefined ? '–' : shown(last)), h('span', null, t(`charts.${name}`), ' · ', t('charts.most', { most: shown(most) }))),
    h('svg', { class: 'chart', viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', 'aria-hidden': true },
      lines(day, value).map((line) => h('polyline', { points: line.map(([x, v]) => `${x},${height - 2 - (most ? v / most : 0) * (height - 4)}`).join(' ') }))));
}

/** The points as lines of [step, value]. A line ends where a step is missing, because no instance ran, or its value is unknown. */
function lines(day, value) {
  const all = [];
  let last;
  for (const p of day.points) {
    const step = Math.round((p.at - day.from) / (day.step_s * 1000));
    const v = value(p);
    if (v === undefined) continue;
    if (step !== last + 1) all.push([]);
    all[all.length - 1].push([step, v]);
    last = step;
  }
  return all.map((line) => line.length > 1 ? line : [line[0], [line[0][0] + 1, line[0][1]]]);
}
