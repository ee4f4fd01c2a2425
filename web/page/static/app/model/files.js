// Pictures, recordings and other files of messages: what they are called, and how large they are drawn.
import { state } from '../state.js';
import { number, playTime } from '../format.js';
import { t } from '../words.js';

/**
 * @typedef {import('../../sdk/types.js').File & {local?: string}} ShownFile  local: the address of the content in this browser, of a file of the user's own
 */

/** Whether the server has files. */
export function mayAttach() { return !!state.limits?.file_bytes && !!state.limits?.files; }

/** What a message has beside its text, in brackets; '': nothing. @param {{files?: ShownFile[]}} body */
export function filesInWords({ files = [] }) {
  const [first] = files;
  if (!first) return '';
  if (files.length > 1) {
    const all = files.every(({ kind }) => kind === 'picture') ? 'files.pictures' : 'files.several';
    return t(all, { count: files.length, shown: number(files.length) });
  }
  if (first.kind === 'voice') return t('files.voice', { time: playTime(first.duration_ms ?? 0) });
  return first.kind === 'picture' ? t('files.picture') : t('files.file', { name: first.name ?? '' });
}

/** A text and what it has beside it, on one line. @param {{text?: string, files?: ShownFile[]}} body */
export function saidInWords(body) {
  const text = (body.text ?? '').slice(0, 200).replace(/\s+/g, ' ');
  return [filesInWords(body), text].filter(Boolean).join(' ') || t('timeline.attachment');
}

const widest = 320; // px
const highest = 360;
const least = 120; // px of width; a picture that is smaller is stretched
const flattest = 2.6; // width by height; beyond it, a picture is cut
const steepest = 0.5;

/** How wide a picture is drawn that is alone, and its width by its height. @param {ShownFile} file */
export function boxOf({ width, height }) {
  const ratio = Math.min(flattest, Math.max(steepest, width && height ? width / height : 1));
  return { width: Math.round(Math.min(widest, highest * ratio, Math.max(width ?? widest, least))), ratio: Math.round(ratio * 1000) / 1000 };
}

/** How many pictures of an album each row has, by the number of pictures. */
const rows = [[], [1], [2], [1, 2], [2, 2], [2, 3], [3, 3], [1, 3, 3], [2, 3, 3], [3, 3, 3], [2, 2, 3, 3]];

/** How many pictures the row of each picture has. @param {number} count */
export function rowsOf(count) {
  const album = rows[count] ?? Array.from({ length: Math.ceil(count / 3) }, () => 3);
  return album.flatMap((inRow) => Array.from({ length: inRow }, () => inRow)).slice(0, count);
}

const flat = 16 / 9; // of a picture that has a row for itself

/** The estimated height of a message's files. @param {ShownFile[]} files */
export function heightOf(files) {
  const pictures = files.filter(({ kind }) => kind === 'picture');
  const others = 64 * (files.length - pictures.length);
  if (pictures.length < 2) return others + pictures.reduce((sum, file) => sum + boxOf(file).width / boxOf(file).ratio, 0);
  return others + rowsOf(pictures.length).reduce((sum, inRow) => sum + (inRow === 1 ? widest / flat : widest / inRow) / inRow, 0);
}

/** Contents of the user's own files, which need not be read from the server. @type {Map<string, string>} */
const locals = new Map();
const localsKept = 100;

/** @param {string} id @param {string|undefined} url as URL.createObjectURL returns it */
export function keepLocal(id, url) {
  if (!url) return;
  locals.set(id, url);
  for (const [oldest, address] of locals) {
    if (locals.size <= localsKept) break;
    locals.delete(oldest);
    URL.revokeObjectURL(address);
  }
}

/** The content of a file in this browser, if it is there. @param {ShownFile} file */
export function localOf(file) { return file.local ?? locals.get(file.id); }

/** The bytes of a base64 text; none if it is not one. @param {string|undefined} text @returns {number[]} */
export function bytesOf(text) {
  try {
    return [...atob(text ?? '')].map((char) => char.charCodeAt(0));
  } catch {
    return [];
  }
}
