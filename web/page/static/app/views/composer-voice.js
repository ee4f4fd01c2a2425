// The button that records a message, in place of the one that sends while nothing is written. A finger holds it, or taps it; a mouse and the keyboard click it.
import { h, Component, createRef } from '../dom.js';
import { toast } from '../state.js';
import { inWords, t } from '../words.js';
import { mayAttach } from '../model/files.js';
import { Icon } from './icon.js';

const tap = 350; // ms

/** Whether this browser can record, and the server takes it. */
export function mayRecord() { return mayAttach() && !!navigator.mediaDevices?.getUserMedia && 'MediaRecorder' in globalThis && 'AudioContext' in globalThis; }

export class MicButton extends Component {
  button = createRef();
  /** @type {{x: number, y: number, at: number, id: number}|null} */ finger = null;
  touched = false;

  /** @param {PointerEvent} e */
  down = (e) => {
    this.touched = e.pointerType !== 'mouse';
    if (!this.touched || this.props.recorder) return;
    this.finger = { x: e.clientX, y: e.clientY, at: e.timeStamp, id: e.pointerId };
    this.button.current.setPointerCapture(e.pointerId);
    this.start(true);
  };

  /** @param {PointerEvent} e */
  move = (e) => { if (this.finger?.id === e.pointerId) this.props.recorder?.slide(e.clientX - this.finger.x, e.clientY - this.finger.y); };

  /** @param {PointerEvent} e */
  up = (e) => {
    if (this.finger?.id !== e.pointerId) return;
    const tapped = e.timeStamp - this.finger.at < tap;
    this.finger = null;
    if (this.props.recorder) this.props.recorder.release(tapped);
    else this.early = true; // the code is still being loaded
  };

  /** The system takes the touch. */
  lost = () => {
    this.finger = null;
    this.props.recorder?.release(true);
  };

  click = () => {
    if (!this.touched) this.start(false);
    this.touched = false;
  };

  /** @param {boolean} held */
  async start(held) {
    this.early = false;
    try {
      const { Recorder, RecorderBar } = await import('./recorder.js');
      this.props.begin(Recorder, RecorderBar, held && !this.early);
    } catch {
      toast(inWords({ word: 'unavailable' }));
    }
  }

  render({ recorder }) {
    return h('button', {
      class: `button tinted icon mic ${recorder ? 'held' : ''}`, type: 'button', ref: this.button, 'aria-label': t('voice.record'), title: t('voice.how'), onClick: this.click,
      onPointerDown: this.down, onPointerMove: this.move, onPointerUp: this.up, onPointerCancel: this.lost, onContextMenu: (e) => e.preventDefault(),
    }, h(Icon, { name: 'mic' }));
  }
}
