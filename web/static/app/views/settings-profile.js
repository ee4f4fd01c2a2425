// The form with a guest's name and picture.
import { h, Component, createRef } from '../dom.js';
import { state } from '../state.js';
import { inWords, t } from '../words.js';
import { changeProfile } from '../actions/profile.js';
import { Avatar } from './parts.js';

const animals = ['rat', 'ox', 'tiger', 'rabbit', 'dragon', 'snake', 'horse', 'goat', 'monkey', 'rooster', 'dog', 'pig'];
const nameChars = 64; // a limit of the server

/** Props: done, called when the form is to be closed. */
export class Profile extends Component {
  state = { avatar: state.me?.avatar ?? '', busy: false, problem: '' };

  input = createRef();

  async save(e) {
    e.preventDefault();
    const name = this.input.current.value.trim();
    const problem = !name ? t('door.noName') : [...name].length > nameChars ? t('door.longName', { max: nameChars }) : '';
    this.setState({ problem, busy: !problem });
    if (problem) {
      this.input.current.focus();
      return;
    }
    try {
      await changeProfile({ name, avatar: this.state.avatar });
      this.props.done();
    } catch (/** @type {any} */ error) {
      this.setState({ busy: false, problem: error.word === 'unreachable' ? t('door.unreachable') : inWords(error) });
    }
  }

  render({ done }, { avatar, busy, problem }) {
    const { me } = state;
    const pick = (value, label) => h('label', { key: value, title: label },
      h('input', { class: 'only-read', type: 'radio', name: 'avatar', checked: avatar === value, onChange: () => this.setState({ avatar: value }) }),
      h(Avatar, { user: { ...me, avatar: value }, size: 'large' }), h('span', { class: 'only-read' }, label));
    return h('form', { class: 'stack profile', noValidate: true, onSubmit: (e) => this.save(e) },
      h('div', { class: 'field' },
        h('label', { class: 'small muted', for: 'profile-name' }, t('profile.name')),
        h('input', {
          class: 'input', id: 'profile-name', ref: this.input, defaultValue: me.name, autocomplete: 'nickname', enterkeyhint: 'done',
          'aria-invalid': problem ? 'true' : 'false', 'aria-describedby': problem ? 'profile-problem' : undefined,
        }),
        problem && h('p', { class: 'problem', id: 'profile-problem', role: 'alert' }, problem)),
      h('fieldset', { class: 'profile-pictures' },
        h('legend', { class: 'small muted' }, t('profile.picture')),
        pick('', t('profile.letter')),
        animals.map((animal, n) => pick(`avatars/${n + 1}.svg`, t(`profile.${animal}`)))),
      h('div', { class: 'row' },
        h('button', { class: 'button grow', type: 'button', onClick: done }, t('cancel')),
        h('button', { class: 'button primary grow', type: 'submit', disabled: busy, 'aria-busy': busy }, t('profile.save'))));
  }
}
