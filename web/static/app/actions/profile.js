// What guests change about themselves.
import { state, change } from '../state.js';
import { askAsGuest } from '../session.js';
import { deviceLink } from '../identity.js';
import { meet } from '../model/happenings.js';

/** @param {{name?: string, avatar?: string}} to an empty avatar removes the picture */
export async function changeProfile(to) {
  const { user } = await askAsGuest('profile', to);
  change(() => { state.me = user; meet(user); });
}

/** A link that signs the guest in on another device, once. @returns {Promise<string>} */
export async function newDeviceLink() { return deviceLink((await askAsGuest('device_code', {})).code); }
