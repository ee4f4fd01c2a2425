// A drawing of how the shares will spread, and the largest likely share.
import { h } from '../dom.js';
import { t } from '../words.js';
import { money, number } from '../format.js';
import { forecast, luckiest } from '../model/spread.js';

const width = 320;
const height = 72;

export function Spread({ form, checked }) {
  const { total, count, problems } = checked;
  const shares = count && count >= 2 && !problems.count ? count : 10;
  const { curve } = forecast(form.spread, shares);
  const real = total && count && count >= 2 && !problems.total && !problems.count;
  return h('figure', { class: 'spread' },
    h('svg', { viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true', focusable: 'false', preserveAspectRatio: 'none' },
      h('path', { class: 'spread-area', d: `${outline(curve)}V${height}H0Z` }),
      h('path', { class: 'spread-line', d: outline(curve) }),
      h('path', { class: 'spread-mean', d: `M${width / 4} 4V${height}` })),
    h('figcaption', { class: 'small muted number' },
      real
        ? t('compose.best', { count, shown: number(count), amount: money(luckiest(form.spread, total, count)),
          mean: money(Math.round(total / count)) })
        : t(`compose.about.${form.spread}`)));
}

/** A smooth line through the tops. @param {number[]} curve */
function outline(curve) {
  const points = [[0, top(curve[0])], ...curve.map((n, i) => [((i + 0.5) * width) / curve.length, top(n)]), [width, top(0)]];
  return points.map(([x, y], i) => {
    if (i === 0) return `M${x} ${y}`;
    const middle = (x + points[i - 1][0]) / 2;
    return `C${middle} ${points[i - 1][1]} ${middle} ${y} ${x} ${y}`;
  }).join('');
}

function top(part) { return Math.round((height - 2 - part * (height - 10)) * 10) / 10; }
