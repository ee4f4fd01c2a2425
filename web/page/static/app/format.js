// Formats and parses money, times and numbers.
import { state } from './state.js';
import { locale, t } from './words.js';

const formats = new Map();
/** @type {[string, number, number][]} */
const units = [['second', 1, 60], ['minute', 60, 60], ['hour', 3600, 24]];
const lastDate = 8.64e15; // the latest date that JavaScript supports

/** Formatters are expensive to create: one of each is kept. */
function format(kind, options) {
  const key = locale() + kind.name + JSON.stringify(options);
  if (!formats.has(key)) formats.set(key, new kind(locale(), options));
  return formats.get(key);
}

/** ¥12.34 of 1234. @param {number} minor */
export function money(minor) { return inCurrency(minor, 'auto'); }

/** An amount of the user's money, called play money where it is. @param {number} minor */
export function playMoney(minor) { return state.page?.play_money ? t('wallet.play', { amount: money(minor) }) : money(minor); }

/** A signed change: +¥12.34. @param {number} minor */
export function signedMoney(minor) { return inCurrency(minor, 'exceptZero'); }

/** @param {number} minor @param {string} signDisplay */
function inCurrency(minor, signDisplay) {
  const { code, exponent } = state.account.currency;
  const isCurrency = /^[A-Za-z]{3}$/.test(code); // an ISO currency; other codes name points, such as the coins of a game
  const text = format(Intl.NumberFormat, {
    ...isCurrency && { style: 'currency', currency: code, currencyDisplay: 'narrowSymbol' },
    minimumFractionDigits: exponent, maximumFractionDigits: exponent, signDisplay,
  }).format(exact(minor, exponent));
  return isCurrency ? text : `${text} ${code}`;
}

/**
 * A whole number with its point moved, as text: a floating-point number cannot hold the largest amounts.
 * @param {number} minor
 * @param {number} exponent
 */
function exact(minor, exponent) {
  const digits = String(Math.abs(minor)).padStart(exponent + 1, '0');
  const cut = digits.length - exponent;
  return `${minor < 0 ? '-' : ''}${digits.slice(0, cut)}${exponent ? `.${digits.slice(cut)}` : ''}`;
}

/** An amount as the user would type it: 12.34 of 1234. @param {number} minor */
export function plainMoney(minor) { return exact(minor, state.account.currency.exponent); }

/** The sign of the currency, '' if it has none. */
export function currencySign() {
  const { code } = state.account.currency;
  if (!/^[A-Za-z]{3}$/.test(code)) return '';
  return format(Intl.NumberFormat, { style: 'currency', currency: code, currencyDisplay: 'narrowSymbol' }).formatToParts(0)
    .find((part) => part.type === 'currency').value;
}

/** Minor units of a typed amount, without floating-point numbers; null: not an amount. @param {string} text */
export function parseMoney(text) {
  const { code, exponent } = state.account.currency;
  const plain = text.normalize('NFKC').toUpperCase().replace(code.toUpperCase(), '')
    .replace(/[\p{Sc}\s元块圆]/gu, '').replace('。', '.');
  const m = /^(\d*|\d{1,3}(?:,\d{3})+)(?:\.(\d*))?$/.exec(plain) ?? /^(\d+),(\d{1,2})$/.exec(plain); // a comma may be the decimal point
  if (!m || !/\d/.test(plain) || (m[2] ?? '').length > exponent) return null;
  const minor = Number(m[1].replaceAll(',', '') + (m[2] ?? '').padEnd(exponent, '0'));
  return Number.isSafeInteger(minor) ? minor : null;
}

/** @param {number} n */
export function number(n) { return format(Intl.NumberFormat, {}).format(n); }

/** "2.4 MB". @param {number} bytes */
export function fileSize(bytes) {
  const [unit, size] = bytes < 999_500 ? ['kilobyte', 1000] : bytes < 999_500_000 ? ['megabyte', 1e6] : ['gigabyte', 1e9];
  const n = Math.max(bytes / Number(size), 0.1);
  return format(Intl.NumberFormat, { style: 'unit', unit, maximumFractionDigits: n < 10 ? 1 : 0 }).format(n);
}

/** 1:05 of 65 s. @param {number} ms */
export function playTime(ms) {
  const seconds = Math.round(Math.max(0, ms) / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** "40 %". @param {number} part */
export function percent(part) { return format(Intl.NumberFormat, { style: 'percent' }).format(part); }

/** 14:05 @param {number} ms */
export function clock(ms) { return format(Intl.DateTimeFormat, { hour: 'numeric', minute: '2-digit' }).format(ms); }

/** The whole date, for tooltips and screen readers. @param {number} ms */
export function fullTime(ms) {
  return format(Intl.DateTimeFormat, { dateStyle: 'full', timeStyle: 'medium' }).format(Math.min(ms, lastDate));
}

/** Today, Yesterday, or a date. @param {number} ms */
export function day(ms) {
  const days = daysAgo(ms);
  if (days === 0 || days === 1) return capital(format(Intl.RelativeTimeFormat, { numeric: 'auto' }).format(-days, 'day'));
  return format(Intl.DateTimeFormat, { month: 'long', day: 'numeric', weekday: 'long', ...otherYear(ms) }).format(ms);
}

/** The date without the time, as it stays true. @param {number} ms */
export function wholeDay(ms) { return format(Intl.DateTimeFormat, { dateStyle: 'long' }).format(ms); }

/** Since when: 14:05 of today, yesterday, Tuesday, or a date. @param {number} ms */
export function since(ms) {
  const days = daysAgo(ms);
  if (days <= 0) return clock(ms);
  if (days === 1) return format(Intl.RelativeTimeFormat, { numeric: 'auto' }).format(-1, 'day');
  return days < 7 ? format(Intl.DateTimeFormat, { weekday: 'long' }).format(ms) : shortDay(ms);
}

/** "5 minutes ago". @param {number} ms */
export function ago(ms) {
  const seconds = (Date.now() - ms) / 1000;
  if (seconds < 45) return t('time.now');
  const [n, unit] = inUnits(seconds);
  if (unit === 'day' && n >= 7) return format(Intl.DateTimeFormat, { dateStyle: 'medium' }).format(ms);
  return format(Intl.RelativeTimeFormat, { numeric: 'auto' }).format(unit === 'second' ? -1 : -n, unit === 'second' ? 'minute' : unit);
}

/** For lists: the time if it is today, else the day. @param {number} ms */
export function brief(ms) {
  if (daysAgo(ms) === 0) return clock(ms);
  return format(Intl.DateTimeFormat, { month: 'numeric', day: 'numeric', ...otherYear(ms) }).format(ms);
}

/** A day in a few characters. @param {number} ms */
export function shortDay(ms) { return format(Intl.DateTimeFormat, { month: 'short', day: 'numeric', ...otherYear(ms) }).format(ms); }

/** "12 s", "3 min". @param {number} ms */
export function duration(ms) {
  const [n, unit] = inUnits(Math.max(1, ms / 1000));
  return format(Intl.NumberFormat, { style: 'unit', unit, unitDisplay: state.lang === 'zh' ? 'long' : 'short' }).format(n);
}

/** The end of a mute: the time, with the day if it is not today; '': never. @param {number} ms */
export function untilTime(ms) {
  const days = -daysAgo(Math.min(ms, lastDate));
  if (days === 0) return clock(ms);
  if (days > 3650) return '';
  return format(Intl.DateTimeFormat, { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit', ...otherYear(ms) }).format(ms);
}

/** @param {number} ms */
export function startOfDay(ms) { return new Date(ms).setHours(0, 0, 0, 0); }

/** The number of midnights in between; days differ in length. @param {number} ms */
function daysAgo(ms) { return Math.round((startOfDay(Date.now()) - startOfDay(ms)) / 86_400_000); }

/** The year is shown if it is not the present one. @param {number} ms @returns {Intl.DateTimeFormatOptions} */
function otherYear(ms) { return new Date(ms).getFullYear() === new Date().getFullYear() ? {} : { year: 'numeric' }; }

/** In the largest unit of which there is at least one, after rounding. @param {number} seconds @returns {[number, string]} */
function inUnits(seconds) {
  for (const [unit, size, limit] of units) {
    const n = Math.round(seconds / size);
    if (n < limit) return [n, unit];
  }
  return [Math.round(seconds / 86_400), 'day'];
}

function capital(text) { return text.charAt(0).toLocaleUpperCase(locale()) + text.slice(1); }
