// A few common emojis; the others are on the keyboard.
import { h, Component, createRef } from '../dom.js';
import { t } from '../words.js';

export const quick = ['👍', '❤️', '😂', '🎉', '😮', '🙏'];

const common = [
  ...'😀😄😁😂🤣😊😇🙂😉😍🥰😘😋😜🤗🤔😏😒🙄😴🤤😭😢😡😱😳🥺😎🤩🥳'.match(/./gu),
  ...'👍👎👏🙏💪👌✌️🤝👋🙌❤️💔💯🎉🎊🎁🧧💰🔥✨🌹🍻🎂🍉🐶🐱🐷🌙☀️⭐'.match(/.\ufe0f?/gu),
];
const columns = 8;

const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns };

/** A grid with arrow-key navigation. */
export class EmojiPicker extends Component {
  box = createRef();

  componentDidMount() { this.buttons()[0].focus(); }

  buttons() { return [...this.box.current.querySelectorAll('button')]; }

  key(e) {
    if (e.key === 'Escape') {
      e.preventDefault();
      e.stopPropagation();
      this.props.onClose();
    } else if (e.key in steps) {
      e.preventDefault();
      const all = this.buttons();
      all[all.indexOf(/** @type {any} */ (document.activeElement)) + steps[e.key]]?.focus();
    }
  }

  render({ onPick, onClose }) {
    return h('div', { class: 'emojis', ref: this.box, role: 'group', 'aria-label': t('composer.emoji'), onKeyDown: (e) => this.key(e) },
      common.map((emoji, n) => h('button', {
        key: emoji, type: 'button', tabIndex: n ? -1 : 0, onClick: () => { onPick(emoji); onClose?.(); },
      }, emoji)));
  }
}
