// The server's time. Windows of draws are short, and clocks of devices may be minutes off.

const precise = 1500; // ms; the server's time is known to the second, so a smaller difference is none

let ahead = 0; // how far this device's clock is ahead, in ms

/** Learns from an answer that was not stored anywhere. @param {string|null} date its header Date @param {number} asked @param {number} now */
export function noteServerDate(date, asked, now) {
  const at = Date.parse(date ?? '');
  if (Number.isNaN(at) || now - asked > precise) return;
  const difference = (asked + now) / 2 - (at + 500); // the header leaves the milliseconds out
  ahead = Math.abs(difference) < precise ? 0 : difference;
}

/** The time by the server's clock, as far as known. */
export function serverNow() { return Date.now() - ahead; }
