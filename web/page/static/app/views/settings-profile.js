// The form with a user's name and picture. Only guests choose their name here, and a drawn picture.
import { h, Component, createRef } from '../dom.js';
import { state } from '../state.js';
import { inWords, t } from '../words.js';
import { changePicture, changeProfile, mayHavePicture, squareOf } from '../actions/profile.js';
import { Animals, Pick } from './animals.js';
import { Icon } from './icon.js';

const nameChars = 64; // a limit of the server

/** Props: done, called when the form is to be closed. */
export class Profile extends Component {
  state = { avatar: state.me?.avatar ?? '', picture: '', busy: false, problem: '', unreadable: false };

  input = createRef();

  async save(e) {
    e.preventDefault();
    const isGuest = state.by === 'guest';
    const name = isGuest ? this.input.current.value.trim() : '';
    const problem = !isGuest ? '' : !name ? t('door.noName') : [...name].length > nameChars ? t('door.longName', { max: nameChars }) : '';
    this.setState({ problem, busy: !problem });
    if (problem) {
      this.input.current.focus();
      return;
    }
    try {
      const { avatar, picture } = this.state;
      const isNew = avatar !== '' && avatar === picture;
      if (isGuest) await changeProfile(isNew ? { name } : { name, avatar });
      if (isNew) await changePicture(picture);
      else if (!isGuest && avatar !== (state.me?.avatar ?? '')) await changePicture('');
      this.props.done();
    } catch (/** @type {any} */ error) {
      this.setState({ busy: false, problem: error.word === 'unreachable' ? t('door.unreachable') : inWords(error) });
    }
  }

  async choose(e) {
    const [file] = e.target.files;
    e.target.value = ''; // so that the same file can be chosen again
    if (!file) return;
    try {
      const picture = await squareOf(file);
      this.setState({ picture, avatar: picture, unreadable: false });
    } catch {
      this.setState({ unreadable: true });
    }
  }

  render({ done }, { avatar, picture, busy, problem, unreadable }) {
    const { me } = state;
    const isGuest = state.by === 'guest';
    const own = picture || (me.avatar && !isDrawn(me.avatar) ? me.avatar : '');
    const pick = { chosen: avatar, choose: (value) => this.setState({ avatar: value }), user: me };
    return h('form', { class: 'stack profile', noValidate: true, onSubmit: (e) => this.save(e) },
      isGuest && h('div', { class: 'field' },
        h('label', { class: 'small muted', for: 'profile-name' }, t('profile.name')),
        h('input', {
          class: 'input', id: 'profile-name', ref: this.input, defaultValue: me.name, autocomplete: 'nickname', enterkeyhint: 'done',
          'aria-invalid': problem ? 'true' : 'false', 'aria-describedby': problem ? 'profile-problem' : undefined,
        })),
      problem && h('p', { class: 'problem', id: 'profile-problem', role: 'alert' }, problem),
      h('fieldset', { class: 'profile-pictures' },
        h('legend', { class: 'small muted' }, t('profile.picture')),
        mayHavePicture() && h('label', { key: 'choose', title: t('profile.choose') },
          h('input', { class: 'only-read', type: 'file', accept: 'image/jpeg,image/png,image/webp,image/gif,image/avif', onChange: (e) => this.choose(e) }),
          h('span', { class: 'avatar large profile-choose' }, h(Icon, { name: 'camera' })), h('span', { class: 'only-read' }, t('profile.choose'))),
        own && h(Pick, { value: own, label: t('profile.own'), face: picture && h('span', { class: 'avatar large' }, h('img', { src: picture, alt: '' })), ...pick }),
        h(Pick, { value: '', label: t('profile.letter'), ...pick }),
        isGuest && h(Animals, pick)),
      unreadable && h('p', { class: 'problem', role: 'alert' }, t('profile.unreadable')),
      h('div', { class: 'row' },
        h('button', { class: 'button grow', type: 'button', onClick: done }, t('cancel')),
        h('button', { class: 'button primary grow', type: 'submit', disabled: busy, 'aria-busy': busy }, t('profile.save'))));
  }
}

/** @param {string} avatar */
function isDrawn(avatar) { return avatar.startsWith('avatars/'); }
