// Numbers, money and times as people read them.
import { state } from './state.js';

export function locale() { return state.lang === 'zh' ? 'zh-CN' : 'en-GB'; }

export function count(n) { return new Intl.NumberFormat(locale()).format(n); }

export function money(minor) {
  const digits = state.session?.currency?.exponent ?? 2;
  return new Intl.NumberFormat(locale(), { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(minor / 10 ** digits);
}

/** A time to the millisecond, in the zone of the browser: who was first is often a matter of milliseconds. */
export function exact(at) {
  const d = new Date(at);
  const two = (n) => String(n).padStart(2, '0');
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}.${String(d.getMilliseconds()).padStart(3, '0')}`;
}

/** A span of time. */
export function span(ms) {
  if (ms < 1000) return `${ms < 10 ? Math.round(ms * 100) / 100 : Math.round(ms)} ms`;
  if (ms < 120_000) return `${(ms / 1000).toFixed(1)} s`;
  return ms < 7_200_000 ? `${Math.round(ms / 60_000)} min` : `${(ms / 3_600_000).toFixed(1)} h`;
}
