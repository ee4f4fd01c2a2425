// Recording a message: while the button is held, or locked until the user stops it; then it can be heard before it is sent.
import { h } from '../dom.js';
import { toast } from '../state.js';
import { t } from '../words.js';
import { playTime } from '../format.js';
import { Microphone } from '../actions/microphone.js';
import { stopPlayer } from '../actions/player.js';
import { attached } from '../model/tray.js';
import { Icon } from './icon.js';
import { IconButton } from './parts.js';
import { Voice, Wave } from './voice.js';

const longest = 119_500; // ms; the server takes two minutes
const shortest = 600; // ms; less is a slip of the finger
const toCancel = 90; // px to the left
const toLock = 60; // px up
const shown = 36; // levels

/** Recorder is one recording, from the press of the button to its end. */
export class Recorder {
  /** @type {'asking'|'recording'|'ready'|'over'} */ phase = 'asking';
  locked = false;
  sending = false;
  away = 0; // 0 to 1: how far the finger has slid to cancel
  /** @type {import('../model/tray.js').Attached|undefined} */ result;
  /** @type {Microphone|undefined} */ microphone;

  /** @param {{changed: () => void, send: (file: import('../model/tray.js').Attached) => void, ended: () => void}} on @param {boolean} held */
  constructor(on, held) {
    this.on = on;
    this.locked = !held;
    stopPlayer();
    this.begin();
  }

  async begin() {
    try {
      const microphone = await Microphone.open(() => this.heard());
      if (this.phase === 'over') {
        microphone.close();
        return;
      }
      this.microphone = microphone;
      this.phase = 'recording';
      this.on.changed();
    } catch (/** @type {any} */ error) {
      if (this.phase === 'over') return;
      toast(t(error.name === 'NotAllowedError' || error.name === 'SecurityError' ? 'voice.forbidden' : error.name === 'NotFoundError' ? 'voice.none' : 'voice.failed'), undefined, 8000);
      this.end();
    }
  }

  heard() {
    if ((this.microphone?.lasts ?? 0) >= longest) this.stop();
    this.on.changed();
  }

  /** The finger moves. @param {number} dx px @param {number} dy */
  slide(dx, dy) {
    if (this.locked || this.phase === 'over') return;
    this.away = Math.min(1, Math.max(0, -dx / toCancel));
    if (this.away === 1) this.cancel();
    else if (-dy > toLock) this.locked = true;
    this.on.changed();
  }

  /** The finger is lifted. @param {boolean} tapped it was only a tap: the recording goes on */
  release(tapped) {
    if (this.locked || this.phase === 'over') return;
    if (tapped || this.phase === 'asking') {
      this.locked = true;
      this.away = 0;
      this.on.changed();
    } else {
      this.send();
    }
  }

  /** Ends the recording, so that the user can hear it. */
  async stop() {
    const { microphone } = this;
    if (!microphone || this.phase !== 'recording') return;
    if (microphone.lasts < shortest) {
      toast(t('voice.short'));
      this.cancel();
      return;
    }
    this.phase = 'ready';
    const made = await microphone.stop();
    if (this.ended) return;
    this.result = attached({ kind: 'voice', name: '', ...made });
    if (this.sending) return;
    this.locked = true;
    this.on.changed();
  }

  async send() {
    this.sending = true; // the button below the finger stays where it is
    if (this.phase === 'recording') await this.stop();
    const { result } = this;
    if (!result || this.phase === 'over') return;
    stopPlayer();
    this.end();
    this.on.send(result);
  }

  cancel() {
    if (this.result?.local) {
      stopPlayer();
      URL.revokeObjectURL(this.result.local);
    }
    this.microphone?.close();
    this.end();
  }

  /** The user has discarded it meanwhile. */
  get ended() { return this.phase === 'over'; }

  end() {
    this.phase = 'over';
    this.on.ended();
  }
}

/** What stands in place of the message field. */
export function RecorderBar({ recorder, room }) {
  const { phase, locked, away, result, microphone } = recorder;
  if (result) {
    return h('div', { class: 'recorder' },
      h(IconButton, { icon: 'trash', label: t('voice.discard'), onClick: () => recorder.cancel() }),
      h(Voice, { room, file: result, sending: true }));
  }
  const loud = microphone?.levels.slice(-shown) ?? [];
  return h('div', { class: `recorder ${locked ? '' : 'held'}` },
    locked && h(IconButton, { icon: 'trash', label: t('voice.discard'), onClick: () => recorder.cancel() }),
    h('span', { class: 'recorder-dot', 'aria-hidden': 'true' }),
    h('span', { class: 'number', role: 'timer' }, phase === 'asking' ? t('voice.asking') : playTime(microphone?.lasts ?? 0)),
    h('span', { class: 'only-read', role: 'status' }, phase === 'asking' ? '' : t('voice.recording')),
    locked ? h('span', { class: 'voice-wave grow' }, h(Wave, { loud: [...Array.from({ length: shown - loud.length }, () => 0), ...loud], part: 1 }))
      : h('span', { class: 'recorder-how muted small grow', style: { opacity: String(1 - away) } }, h(Icon, { name: 'back', size: 16 }), t('voice.slide')),
    locked ? h(IconButton, { icon: 'stop', label: t('voice.stop'), disabled: phase !== 'recording', onClick: () => recorder.stop() })
      : h('span', { class: 'recorder-lock muted' }, h(Icon, { name: 'lock', size: 18 }), h('span', { class: 'small' }, t('voice.lock'))));
}
