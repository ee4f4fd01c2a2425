// What users change about themselves.
import { state, change } from '../state.js';
import { askAsGuest, askAsUser, newestToken } from '../client.js';
import { claims, deviceLink } from '../identity.js';
import { meet } from '../model/people.js';

const side = 160; // pixels of a picture: twice what the largest avatar needs

/** Whether the user may have a picture: a host that says avatars in its tokens decides itself. */
export function mayHavePicture() { return Boolean(state.page?.pictures) && claims(newestToken()).avatar === undefined; }

/** @param {{name?: string, avatar?: string}} to an empty avatar removes the picture */
export async function changeProfile(to) { take(await askAsGuest('profile', to)); }

/** @param {string} picture as squareOf returns it; '': removes the picture */
export async function changePicture(picture) { take(await askAsUser('picture', { picture: picture.slice(picture.indexOf(',') + 1) })); }

function take({ user }) { change(() => { state.me = user; meet(user); }); }

/** The middle of a picture as a small square. It fails if the browser cannot read the picture. @param {Blob} file @returns {Promise<string>} a data URL */
export async function squareOf(file) {
  const whole = await createImageBitmap(file);
  const cut = Math.min(whole.width, whole.height);
  const canvas = document.createElement('canvas');
  canvas.width = side;
  canvas.height = side;
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  pen.fillStyle = '#fff'; // below a transparent picture
  pen.fillRect(0, 0, side, side);
  pen.imageSmoothingQuality = 'high';
  pen.drawImage(whole, (whole.width - cut) / 2, (whole.height - cut) / 2, cut, cut, 0, 0, side, side);
  whole.close();
  return canvas.toDataURL('image/jpeg', 0.85);
}

/** A link that signs the guest in on another device, once. @returns {Promise<string>} */
export async function newDeviceLink() { return deviceLink((await askAsGuest('device_code', {})).code); }
