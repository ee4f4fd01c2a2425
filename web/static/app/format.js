// Money, times and numbers as people write them.
import { state } from './state.js';
import { locale, t } from './words.js';

const formats = new Map();

/** A formatter is costly to make: one of each is kept. */
function format(kind, options) {
  const key = locale() + kind.name + JSON.stringify(options);
  if (!formats.has(key)) formats.set(key, new kind(locale(), options));
  return formats.get(key);
}

/** ¥12.34 of 1234. @param {number} minor */
export function money(minor) {
  const { code, exponent } = state.account.currency;
  const options = { style: 'currency', currency: code, currencyDisplay: 'narrowSymbol', minimumFractionDigits: exponent, maximumFractionDigits: exponent };
  return format(Intl.NumberFormat, options).format(minor / 10 ** exponent);
}

/** Minor units of what somebody has typed, without passing through a fraction; null: it is no amount. @param {string} text */
export function parseMoney(text) {
  const { exponent } = state.account.currency;
  const plain = text.normalize('NFKC').replace(/[¥¥$€£\s]/g, '').replace(/(\d),(?=\d{3}(\D|$))/g, '$1').replace(',', '.').replace('。', '.');
  const m = /^(\d{1,12})(?:\.(\d*))?$/.exec(plain);
  if (!m || (m[2] ?? '').length > exponent) return null;
  return Number(m[1] + (m[2] ?? '').padEnd(exponent, '0'));
}

/** @param {number} n */
export function number(n) { return format(Intl.NumberFormat, {}).format(n); }

/** 14:05 @param {number} ms */
export function clock(ms) { return format(Intl.DateTimeFormat, { hour: '2-digit', minute: '2-digit' }).format(ms); }

/** The whole date, for hovering and for screen readers. @param {number} ms */
export function fullTime(ms) { return format(Intl.DateTimeFormat, { dateStyle: 'full', timeStyle: 'medium' }).format(ms); }

/** Today, Yesterday, or a date. @param {number} ms */
export function day(ms) {
  const days = Math.round((startOfDay(Date.now()) - startOfDay(ms)) / 86_400_000);
  if (days === 0 || days === 1) return capital(format(Intl.RelativeTimeFormat, { numeric: 'auto' }).format(-days, 'day'));
  const year = new Date(ms).getFullYear() === new Date().getFullYear() ? {} : { year: 'numeric' };
  return format(Intl.DateTimeFormat, { month: 'long', day: 'numeric', weekday: 'long', ...year }).format(ms);
}

/** "5 minutes ago". @param {number} ms */
export function ago(ms) {
  const seconds = Math.round((Date.now() - ms) / 1000);
  if (seconds < 45) return t('time.now');
  for (const [unit, size, limit] of [['minute', 60, 3600], ['hour', 3600, 86_400], ['day', 86_400, 7 * 86_400]]) {
    if (seconds < limit) return format(Intl.RelativeTimeFormat, { numeric: 'auto' }).format(-Math.max(1, Math.round(seconds / size)), unit);
  }
  return format(Intl.DateTimeFormat, { dateStyle: 'medium' }).format(ms);
}

/** For lists: the time today, the day before that. @param {number} ms */
export function brief(ms) {
  if (startOfDay(ms) === startOfDay(Date.now())) return clock(ms);
  return format(Intl.DateTimeFormat, { month: 'numeric', day: 'numeric' }).format(ms);
}

/** "12 s", "3 min". @param {number} ms */
export function duration(ms) {
  const s = Math.max(1, Math.round(ms / 1000));
  const [n, unit] = s < 60 ? [s, 'second'] : s < 3600 ? [Math.round(s / 60), 'minute'] : s < 86_400 ? [Math.round(s / 3600), 'hour'] : [Math.round(s / 86_400), 'day'];
  return format(Intl.NumberFormat, { style: 'unit', unit, unitDisplay: state.lang === 'zh' ? 'long' : 'short' }).format(n);
}

/** @param {number} ms */
export function startOfDay(ms) { return new Date(ms).setHours(0, 0, 0, 0); }

function capital(text) { return text.charAt(0).toLocaleUpperCase(locale()) + text.slice(1); }
