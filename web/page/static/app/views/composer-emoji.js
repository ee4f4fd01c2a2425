// Emojis to pick: a few common ones at once, all others by group, and a search.
import { h, Component, createRef } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { emojisFor, emojisIn } from '../model/emojis.js';

export const quick = ['👍', '❤️', '😂', '🎉', '😮', '🙏'];

const common = [
  ...'😀😄😁😂🤣😊😇🙂😉😍🥰😘😋😜🤗🤔😏😒🙄😴🤤😭😢😡😱😳🥺😎🤩🥳'.match(/./gu),
  ...'👍👎👏🙏💪👌✌️🤝👋🙌❤️💔💯🎉🎊🎁🧧💰🔥✨🌹🍻🎂🍉🐶🐱🐷🌙☀️⭐'.match(/.\ufe0f?/gu),
];
const groups = [
  ['common', '🕘'], ['smileys', '😀'], ['people', '👋'], ['nature', '🐻'], ['food', '🍎'], ['travel', '✈️'], ['activities', '⚽'], ['objects', '💡'],
  ['symbols', '❣️'], ['flags', '🏁'],
];

/** How far an arrow key goes. @param {string} key @param {HTMLElement[]} all */
function step(key, all) {
  if (key === 'ArrowRight' || key === 'ArrowLeft') return key === 'ArrowRight' ? 1 : -1;
  const columns = all.filter((button) => button.offsetTop === all[0].offsetTop).length;
  return key === 'ArrowDown' ? columns : -columns;
}

/** A grid with arrow-key navigation, below a search and the groups. */
export class EmojiPicker extends Component {
  state = { query: '', group: 'common', all: /** @type {import('../model/emojis.js').Group[]|null} */ (null), failed: false };

  box = createRef();

  field = createRef();

  componentDidMount() {
    this.load();
    if (matchMedia('(pointer: fine)').matches) this.field.current.focus(); // a phone's keyboard would cover the emojis
    else this.buttons()[0].focus();
  }

  componentWillUnmount() { this.gone = true; }

  async load() {
    try {
      const all = await emojisIn(state.lang);
      if (!this.gone) this.setState({ all });
    } catch {
      if (!this.gone) this.setState({ failed: true });
    }
  }

  buttons() { return [...this.box.current.querySelectorAll('button')]; }

  shown() {
    const { query, group, all } = this.state;
    if (query.trim()) return emojisFor(all ?? [], query);
    return group === 'common' ? common : all?.find(({ name }) => name === group)?.emojis.map(({ emoji }) => emoji) ?? [];
  }

  pick(emoji) {
    this.props.onPick(emoji);
    this.props.onClose?.();
  }

  key(e) {
    const inField = e.target === this.field.current;
    if (e.key === 'Escape') {
      e.preventDefault();
      e.stopPropagation();
      this.props.onClose();
    } else if (inField && e.key === 'Enter' && !e.isComposing) {
      e.preventDefault();
      const [first] = this.shown();
      if (first && this.state.query.trim()) this.pick(first);
    } else if (inField ? e.key === 'ArrowDown' : e.key.startsWith('Arrow') && this.box.current.contains(e.target)) {
      e.preventDefault();
      const all = this.buttons();
      all[inField ? 0 : all.indexOf(e.target) + step(e.key, all)]?.focus();
    }
  }

  render(_, { query, group, all, failed }) {
    const emojis = this.shown();
    return h('div', { class: 'emoji-picker', role: 'group', 'aria-label': t('composer.emoji'), onKeyDown: (e) => this.key(e) },
      h('input', {
        class: 'input', ref: this.field, value: query, autocomplete: 'off', enterkeyhint: 'done', 'aria-label': t('composer.findEmoji'),
        placeholder: t('composer.findEmoji'), onInput: (e) => this.setState({ query: e.target.value }),
      }),
      !query.trim() && h('div', { class: 'emoji-groups', role: 'group', 'aria-label': t('composer.emojiGroups') }, groups.map(([name, sign]) => h('button', {
        key: name, type: 'button', 'aria-label': t(`composer.emojiGroup.${name}`), title: t(`composer.emojiGroup.${name}`), 'aria-pressed': group === name,
        onClick: () => this.setState({ group: name }, () => { this.box.current.scrollTop = 0; }),
      }, sign))),
      failed && !all && (query.trim() || group !== 'common') ? h('p', { class: 'muted small', role: 'alert' }, t('composer.emojisMissing'))
        : all && query.trim() && !emojis.length && h('p', { class: 'muted small', role: 'status' }, t('composer.noEmoji')),
      h('div', { class: 'emojis', ref: this.box }, emojis.map((emoji, n) => h('button', {
        key: emoji, type: 'button', tabIndex: n ? -1 : 0, onClick: () => this.pick(emoji),
      }, emoji))));
  }
}
