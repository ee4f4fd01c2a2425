// Plays recordings, one at a time.
import { localOf } from '../model/files.js';
import { addressOfFile } from './files.js';

/** @typedef {import('../model/files.js').ShownFile} ShownFile */

/** What is played: the id of the file, '' for none; the position in s; and whether it cannot be played. */
export const player = { id: '', playing: false, at: 0, rate: 1, failed: false };

/** @type {Set<() => void>} */
const followers = new Set();

/** Calls f when the player changes. The result ends that. @param {() => void} f */
export function followPlayer(f) {
  followers.add(f);
  return () => { followers.delete(f); };
}

/** @param {Partial<typeof player>} to */
function set(to) {
  Object.assign(player, to);
  for (const f of followers) f();
}

/** @type {HTMLAudioElement|undefined} */
let sound;
let renewed = false; // the address of the present recording was renewed
let room = '';
/** @type {ShownFile|undefined} */
let file;

/** Plays a recording, or pauses it. @param {string} inRoom @param {ShownFile} recording */
export function playOrPause(inRoom, recording) {
  if (player.id !== recording.id || player.failed) {
    begin(inRoom, recording, 0);
  } else if (player.playing) {
    sound?.pause();
  } else {
    play();
  }
}

/** Goes to a part of a recording, from 0 to 1, and plays on from there. @param {string} inRoom @param {ShownFile} recording @param {number} part */
export function playFrom(inRoom, recording, part) {
  const at = part * (recording.duration_ms ?? 0) / 1000;
  if (player.id !== recording.id || player.failed || !sound) {
    begin(inRoom, recording, at);
    return;
  }
  goTo(at);
  play();
}

/** Once as fast, or half as fast again. */
export function changeRate() {
  const rate = player.rate === 1 ? 1.5 : 1;
  if (sound) sound.playbackRate = rate;
  set({ rate });
}

/** Stops what is played, and forgets it. */
export function stopPlayer() {
  sound?.pause();
  set({ id: '', playing: false, at: 0 });
}

/** @param {string} inRoom @param {ShownFile} recording @param {number} at */
async function begin(inRoom, recording, at) {
  sound ??= made();
  sound.pause();
  room = inRoom;
  file = recording;
  renewed = false;
  set({ id: recording.id, playing: true, at, failed: false });
  await load(false, at);
}

/** @param {boolean} renew @param {number} at */
async function load(renew, at) {
  const wanted = file;
  if (!wanted || !sound) return;
  try {
    const url = localOf(wanted) ?? await addressOfFile(room, wanted, 'original', renew);
    if (file !== wanted) return;
    sound.src = url;
    sound.playbackRate = player.rate;
    if (at > 0) sound.addEventListener('loadedmetadata', () => goTo(at), { once: true });
    play();
  } catch {
    if (file === wanted) set({ playing: false, failed: true });
  }
}

/** A recording of a browser may not say how long it is: then some browsers cannot go to each place. @param {number} at */
function goTo(at) {
  try {
    if (sound) sound.currentTime = at;
  } catch {
    // It goes on where it was.
  }
}

function play() {
  sound?.play().catch((error) => { if (error.name === 'NotAllowedError') set({ playing: false }); }); // other errors come by the event, or mean that it was paused
}

function made() {
  const audio = new Audio();
  audio.preload = 'auto';
  audio.onplay = () => set({ playing: true });
  audio.onpause = () => set({ playing: false });
  audio.ontimeupdate = () => set({ at: audio.currentTime });
  audio.onended = () => set({ playing: false, at: 0 });
  audio.onerror = () => {
    if (!audio.getAttribute('src') || !file) return;
    const again = !renewed && !localOf(file);
    renewed = true;
    if (again) load(true, player.at);
    else set({ playing: false, failed: true });
  };
  return audio;
}
