// Puts files of the user into the tray: checks them, and makes pictures smaller that are too large for the server.
import { toast } from '../state.js';
import { fileSize, number } from '../format.js';
import { t } from '../words.js';
import { state } from '../state.js';
import { attached, mostBytes, putInTray, roomInTray } from '../model/tray.js';

/** @typedef {import('../model/tray.js').Attached} Attached */

const taken = ['image/jpeg', 'image/png', 'image/gif', 'image/webp']; // the server decodes these
const mostPixels = 40_000_000; // that the server decodes
const smaller = [[5000, 0.9], [4096, 0.88], [3072, 0.85], [2048, 0.8]]; // the longer side in px, and the quality
const nameBytes = 255;
const isPhoto = /\.(heic|heif|avif)$/i; // some browsers know no type for these

/**
 * Puts files into the tray. What cannot be sent is said in words.
 * @param {import('../state.js').RoomView} view
 * @param {Iterable<File>} files
 * @param {{unchanged?: boolean}} [how] unchanged: pictures, too, are sent as files to be downloaded
 */
export async function attach(view, files, { unchanged = false } = {}) {
  const all = [...files];
  const fits = roomInTray(view);
  if (all.length > fits) toast(t('attach.tooMany', { count: state.limits?.files ?? 0, shown: number(state.limits?.files ?? 0) }));
  for (const file of all.slice(0, fits)) {
    const made = await prepared(file, unchanged);
    if (made && roomInTray(view) > 0) putInTray(view, [made]);
  }
}

/** @param {File} file @param {boolean} unchanged @returns {Promise<Attached|undefined>} undefined: it cannot be sent */
async function prepared(file, unchanged) {
  const name = fileName(file.name);
  if (!file.size) {
    toast(t('attach.empty', { name }));
    return undefined;
  }
  const wanted = !unchanged && (file.type.startsWith('image/') && file.type !== 'image/svg+xml' || isPhoto.test(name));
  const picture = wanted ? await asPicture(file, name) : undefined;
  if (picture) return picture;
  if (file.size > mostBytes('file')) {
    toast(t('attach.tooLarge', { name, most: fileSize(mostBytes('file')) }));
    return undefined;
  }
  if (wanted) toast(t('attach.asFile', { name }));
  return attached({ kind: 'file', blob: file, name, type: mediaType(file.type) });
}

/** A picture as the server takes it. @param {File} file @param {string} name @returns {Promise<Attached|undefined>} undefined: this browser cannot read it */
async function asPicture(file, name) {
  const size = await pixelsOf(file);
  if (!size) return undefined;
  const fits = taken.includes(file.type) && file.size <= mostBytes('picture') && size.width * size.height <= mostPixels;
  if (fits) return attached({ kind: 'picture', blob: file, name, type: file.type, ...size });
  const blob = await shrunk(file).catch(() => null);
  if (!blob) return undefined;
  return attached({ kind: 'picture', blob, name: name.replace(/\.\w+$/, '') + '.jpg', type: 'image/jpeg', ...await pixelsOf(blob) });
}

/** @param {Blob} blob @returns {Promise<{width: number, height: number}|undefined>} */
async function pixelsOf(blob) {
  const url = URL.createObjectURL(blob);
  try {
    const image = new Image();
    await new Promise((resolve, reject) => {
      image.onload = resolve;
      image.onerror = reject;
      image.src = url;
    });
    return { width: image.naturalWidth, height: image.naturalHeight };
  } catch {
    return undefined;
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** The picture as a JPEG that the server takes; null: it does not become small enough. @param {Blob} blob */
async function shrunk(blob) {
  const whole = await createImageBitmap(blob);
  try {
    for (const [side, quality] of smaller) {
      const scale = Math.min(1, side / Math.max(whole.width, whole.height));
      const canvas = document.createElement('canvas');
      canvas.width = Math.max(1, Math.round(whole.width * scale));
      canvas.height = Math.max(1, Math.round(whole.height * scale));
      const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
      pen.fillStyle = '#fff'; // below a transparent picture
      pen.fillRect(0, 0, canvas.width, canvas.height);
      pen.imageSmoothingQuality = 'high';
      pen.drawImage(whole, 0, 0, canvas.width, canvas.height);
      /** @type {Blob|null} */
      const made = await new Promise((resolve) => { canvas.toBlob(resolve, 'image/jpeg', quality); });
      if (made && made.size <= mostBytes('picture')) return made;
    }
    return null;
  } finally {
    whole.close();
  }
}

/** A name that the server takes, with its end. @param {string} name */
export function fileName(name) {
  const clean = name.normalize('NFC').replace(/[/\\]/g, '_').replace(/[\p{Cc}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '').trim() || 'file';
  const bytes = (/** @type {string} */ text) => new TextEncoder().encode(text).length;
  if (clean === '.' || clean === '..') return 'file';
  if (bytes(clean) <= nameBytes) return clean;
  const end = /\.\w{1,10}$/.exec(clean)?.[0] ?? '';
  let begin = [...clean.slice(0, clean.length - end.length)].slice(0, nameBytes);
  while (bytes(begin.join('').trim() + end) > nameBytes) begin = begin.slice(0, -1);
  return begin.join('').trim() + end;
}

/** Without parameters; '': it has no form that the server takes. @param {string} type */
function mediaType(type) {
  const [plain] = type.split(';');
  return /^[a-z0-9.+_-]+\/[a-z0-9.+_-]+$/i.test(plain.trim()) && plain.length <= 100 ? plain.trim() : '';
}
