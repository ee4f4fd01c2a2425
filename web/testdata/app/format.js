// Money, times and numbers as people write them, in both languages and in currencies with more and fewer digits.

import { state } from '/app/state.js';
import { ago, brief, day, duration, fullTime, money, number, parseMoney, signedMoney, untilTime } from '/app/format.js';
import { setLanguage } from '/app/words.js';
import { equal } from '/test/check.js';

const languages = ['en', 'zh'];

function spend(code, exponent) { state.account.currency = { code, exponent }; }

/** Each language in turn; equal fails with which one it was. */
function inBoth(check) {
  for (const lang of languages) {
    state.lang = lang;
    check(lang);
  }
  state.lang = 'en';
}

export async function writesMoney() {
  inBoth((lang) => {
    spend('CNY', 2);
    equal([1234, 0, 5, 100_000, -4200].map(money), ['¥12.34', '¥0.00', '¥0.05', '¥1,000.00', '-¥42.00'], lang);
    equal([1234, 0, -5].map(signedMoney), ['+¥12.34', '¥0.00', '-¥0.05'], lang);
    spend('JPY', 0);
    equal([1234, 0, 7].map(money).map((text) => text.replace(/[^\d,]/g, '')), ['1,234', '0', '7'], lang);
    spend('KWD', 3);
    equal([1234, 5].map(money).map((text) => text.replace(/[^\d.]/g, '')), ['1.234', '0.005'], lang);
    spend('COINS', 1);
    equal([1234, 0].map(money), ['123.4 COINS', '0.0 COINS'], `${lang}: what is no currency of the world`);
  });
}

/** What no fraction of the language holds is still written to the last digit. */
export async function writesTheLargest() {
  inBoth((lang) => {
    for (const [exponent, want] of [[0, '9,007,199,254,740,991'], [2, '90,071,992,547,409.91'], [3, '9,007,199,254,740.991'], [6, '9,007,199,254.740991']]) {
      spend('CNY', exponent);
      equal(money(Number.MAX_SAFE_INTEGER), `¥${want}`, lang);
      equal(parseMoney(want), Number.MAX_SAFE_INTEGER, lang);
    }
  });
}

export async function readsMoney() {
  const cases = [
    // typed, minor units with 2 digits
    ['12', 1200], ['12.3', 1230], ['12.34', 1234], ['12.', 1200], ['.5', 50], ['0.05', 5], [' 1 2 ', 1200], ['007', 700],
    ['1,000', 100_000], ['1,000.5', 100_050], ['1,000,000.50', 100_000_050], ['12,5', 1250], ['12,50', 1250],
    ['¥12', 1200], ['￥12.50', 1250], ['１２．５０', 1250], ['１，０００', 100_000], ['12。5', 1250], ['12元', 1200], ['5块', 500], ['CNY 12', 1200], ['cny 12', 1200],
    ['0', 0], ['90071992547409.91', Number.MAX_SAFE_INTEGER],
    ['', null], [' ', null], ['.', null], [',', null], ['¥', null], ['abc', null], ['-5', null], ['+5', null], ['1e3', null], ['0x10', null], ['1.2.3', null],
    ['0.001', null], ['1.000', null], ['12,345', 1_234_500], ['1,00,000', null], ['1,0000', null], ['1,000,5', null], ['90071992547409.92', null],
    ['99999999999999999999', null], ['Infinity', null], ['NaN', null], ['<b>1</b>', null],
  ];
  inBoth((lang) => {
    spend('CNY', 2);
    for (const [typed, want] of cases) equal(parseMoney(typed), want, `${lang}: ${JSON.stringify(typed)}`);
    spend('JPY', 0);
    for (const [typed, want] of [['1,000', 1000], ['12', 12], ['1.5', null], ['0.5', null]]) equal(parseMoney(typed), want, `${lang}: ${typed} of 0 digits`);
    spend('KWD', 3);
    for (const [typed, want] of [['0.001', 1], ['1', 1000], ['1.5', 1500], ['1,234', 1_234_000], ['0.0001', null]]) {
      equal(parseMoney(typed), want, `${lang}: ${typed} of 3 digits`);
    }
  });
}

/** Whatever is written can be typed in again. */
export async function readsWhatItWrites() {
  inBoth((lang) => {
    for (const [code, exponent] of [['CNY', 2], ['USD', 2], ['EUR', 2], ['JPY', 0], ['KWD', 3], ['COINS', 4]]) {
      spend(code, exponent);
      for (let minor = 1, step = 7; minor < Number.MAX_SAFE_INTEGER / 10; minor = minor * 3 + step) equal(parseMoney(money(minor)), minor, `${lang}: ${money(minor)}`);
    }
  });
  spend('CNY', 2);
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const oneDay = 24 * hour;

export async function writesDurations() {
  const cases = [
    [0, '1 sec', '1秒钟'], [400, '1 sec', '1秒钟'], [12 * second, '12 sec', '12秒钟'], [59.4 * second, '59 sec', '59秒钟'], [59.6 * second, '1 min', '1分钟'],
    [90 * second, '2 min', '2分钟'], [59.4 * minute, '59 min', '59分钟'], [59.6 * minute, '1 hr', '1小时'], [hour, '1 hr', '1小时'],
    [23.6 * hour, '1 day', '1天'], [7 * oneDay, '7 days', '7天'],
  ];
  for (const [ms, en, zh] of cases) {
    state.lang = 'zh';
    equal(duration(ms), zh, `${ms}`);
    state.lang = 'en';
    equal(duration(ms), en, `${ms}`);
  }
}

/** A moment of some day, at noon: no test may depend on when it runs. */
function noon(daysAgo) {
  const at = new Date();
  at.setDate(at.getDate() - daysAgo);
  return at.setHours(12, 0, 0, 0);
}

export async function writesDays() {
  const old = new Date(2019, 0, 5, 12).getTime();
  state.lang = 'zh';
  equal([day(noon(0)), day(noon(1)), day(old)], ['今天', '昨天', '2019年1月5日星期六']);
  equal(brief(old), '2019/1/5');
  state.lang = 'en';
  equal([day(noon(0)), day(noon(1)), day(old)], ['Today', 'Yesterday', 'Saturday, January 5, 2019']);
  equal(brief(old), '1/5/2019');
  equal(/^\d{1,2}:\d\d/.test(brief(Date.now())), true, brief(Date.now()));
}

export async function writesHowLongAgo() {
  const cases = [
    [-minute, 'just now', '刚刚'], [10 * second, 'just now', '刚刚'], [50 * second, '1 minute ago', '1分钟前'], [59.7 * minute, '1 hour ago', '1小时前'],
    [3 * hour, '3 hours ago', '3小时前'], [23.9 * hour, 'yesterday', '昨天'], [6 * oneDay, '6 days ago', '6天前'],
  ];
  for (const [ms, en, zh] of cases) {
    await setLanguage('zh');
    equal(ago(Date.now() - ms), zh, `${ms}`);
    await setLanguage('en');
    equal(ago(Date.now() - ms), en, `${ms}`);
  }
  equal(ago(new Date(2019, 0, 5).getTime()), 'Jan 5, 2019');
}

/** A mute may last longer than the language's calendar. */
export async function writesTheEndOfMutes() {
  inBoth((lang) => {
    equal(untilTime(Number.MAX_SAFE_INTEGER), '', lang);
    equal(fullTime(Number.MAX_SAFE_INTEGER) !== '', true, lang);
    equal(/^\D*\d{1,2}:\d\d\D*$/.test(untilTime(new Date().setHours(23, 59, 0, 0))), true, untilTime(new Date().setHours(23, 59, 0, 0)));
    equal(/\d.* \d{1,2}:\d\d/.test(untilTime(noon(-3))), true, untilTime(noon(-3)));
  });
}

export async function writesNumbers() {
  inBoth((lang) => equal([0, 1234, 1_234_567].map(number), ['0', '1,234', '1,234,567'], lang));
}
