// Offers sounds, once: after the first envelope that the user has opened. The answer is stored in this browser.
import { h, Component } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { sound } from '../sound.js';
import { setSound } from '../sound-choice.js';

export class SoundOffer extends Component {
  offered = state.sound === null;

  /** @param {boolean} on */
  answer(on) {
    setSound(on);
    sound('won');
  }

  render() {
    if (!this.offered) return null;
    return h('div', { class: 'sound-offer small' },
      h('p', { role: 'status' }, t(state.sound === null ? 'sound.offer' : state.sound ? 'sound.on' : 'sound.off')),
      state.sound === null && [true, false].map((on) => h('button', { class: 'button', type: 'button', key: on, onClick: () => this.answer(on) }, t(on ? 'sound.yes' : 'sound.no'))));
  }
}
