// The first screen: sign-in. And the last one: why the session has ended.
import { h, Component, createRef } from '../dom.js';
import { state } from '../state.js';
import { inWords, setLanguage, t } from '../words.js';
import { setTheme, themes } from '../theme.js';
import { acceptInvitation } from '../actions/invitation.js';
import { isApart } from '../identity.js';
import { comeBack, enter, enterAsGuest } from '../session.js';
import { Animals } from './animals.js';
import { Arrival } from './arrival.js';
import { Choice } from './choice.js';
import { Icon } from './icon.js';
import { Invitation, RoomPreview } from './invitation.js';

const nameChars = 64; // a limit of the server, which announces it only to signed-in users

/** @type {{lang: string, label: string}[]} */
const tongues = [{ lang: 'zh', label: '中文' }, { lang: 'en', label: 'English' }];
const themeIcons = { auto: 'auto', light: 'sun', dark: 'moon' };

export class Door extends Component {
  state = { asToken: false, problem: '', avatar: '', choosing: false };

  input = createRef();

  componentDidMount() { this.offer(); }

  componentDidUpdate() { this.offer(); }

  /** Puts the cursor into the field, unless that opens a keyboard over the page. */
  offer() {
    const field = this.input.current;
    if (field && field !== this.offered && matchMedia('(pointer: fine)').matches) field.focus();
    this.offered = field;
  }

  render(_, { asToken, problem, avatar, choosing }) {
    const { status, error } = state.door;
    if (status === 'arriving') return h(Frame, null, h(Arrival, null));
    if (status === 'loading') return h(Frame, null, error && h(Waiting, { text: t('door.unreachableAgain') }));
    const withToken = asToken || !state.page?.guests;
    const busy = status === 'entering';
    if (busy && !this.input.current) return h(Frame, null, state.notice !== 'no' && h(Waiting, { text: t(`link.${state.notice}`) }));
    const said = problem || (!busy && error && doorWords(error));
    const { link, room } = state.route;
    return h(Frame, null,
      link && h(Invitation, { code: link }),
      !link && room && state.page?.guests && h(RoomPreview, { id: room, key: room }),
      h('form', { class: 'stack', noValidate: true, onSubmit: (e) => this.submit(e, withToken) },
        withToken ? !state.page?.guests && h(TokenWords, null) : !link && !room && h('p', { class: 'muted' }, t('door.welcome')),
        h(Field, { key: withToken ? 'token' : 'name', place: withToken ? 'token' : 'name', input: this.input, said, busy,
          onInput: () => problem && this.setState({ problem: '' }) }),
        !withToken && h('details', { class: 'door-picture', onToggle: (e) => this.setState({ choosing: e.target.open }) },
          h('summary', { class: 'muted small' }, t('door.picture')),
          choosing && h('div', { class: 'door-pictures', role: 'radiogroup', 'aria-label': t('profile.picture') },
            h(Animals, { chosen: avatar, choose: (value) => this.setState({ avatar: value }), user: { id: '', name: '?' } }))),
        h('button', { class: 'button primary wide', type: 'submit', 'aria-disabled': busy },
          busy && h('span', { class: 'spinner', 'aria-hidden': 'true' }), t(busy ? 'door.entering' : 'door.enter')),
        h('p', { class: 'muted small door-note', role: 'status' },
          busy && state.notice !== 'no' ? t(`link.${state.notice}`) : t(withToken ? 'door.tokenNote' : guestNote())),
        state.page?.guests && h('button', {
          class: 'button quiet small', type: 'button', disabled: busy, onClick: () => this.setState({ asToken: !asToken, problem: '' }),
        }, t(asToken ? 'door.asGuest' : 'door.withToken'))));
  }

  /** @param {Event} e @param {boolean} withToken */
  submit(e, withToken) {
    e.preventDefault();
    if (state.door.status !== 'open') return;
    const text = this.input.current.value.trim();
    const problem = wrong(text, withToken);
    this.setState({ problem });
    if (problem) {
      this.input.current.focus();
      return;
    }
    acceptInvitation();
    if (withToken) enter(text, 'token');
    else enterAsGuest(text, this.state.avatar);
  }
}

/** How long the guest lasts. */
function guestNote() {
  if (isApart) return 'door.apartNote';
  return state.page?.play_money ? 'door.playNote' : 'door.guestNote';
}

/** The error of what was typed; '': none. @param {string} text @param {boolean} isToken */
function wrong(text, isToken) {
  if (!text) return t(isToken ? 'door.noToken' : 'door.noName');
  return !isToken && [...text].length > nameChars ? t('door.longName', { max: nameChars }) : '';
}

function Field({ place, input, said, busy, onInput }) {
  const isName = place === 'name';
  return h('div', { class: 'field' },
    h('label', { class: 'small muted', for: 'door-field' }, t(`door.${place}`)),
    h('input', {
      class: 'input', id: 'door-field', ref: input, type: 'text', readOnly: busy, onInput,
      autocomplete: isName ? 'nickname' : 'off', autocapitalize: isName ? 'words' : 'none', spellcheck: false, enterkeyhint: 'go',
      'aria-invalid': said ? 'true' : 'false', 'aria-describedby': said ? 'door-said' : undefined,
    }),
    said && h('p', { class: 'problem', id: 'door-said', role: 'alert' }, said));
}

/** Without guests: how users sign in, and how to try the server. */
function TokenWords() {
  return h('div', { class: 'door-words' },
    h('p', null, t('door.tokensOnly')),
    h('p', { class: 'muted small' }, t('door.developers'), ' ', h('code', null, 'hongbao token --user ann')));
}

function doorWords(error) {
  if (error.word === 'unreachable') return t('door.unreachable');
  if (error.word === 'elsewhere' || error.word === 'another') return t(`door.${error.word}`);
  if (error.code === 3500 && state.by === 'token' && !state.me) return t('door.badToken');
  return inWords(error);
}

function Waiting({ text }) {
  return h('p', { class: 'row door-waiting muted', role: 'status' }, h('span', { class: 'spinner', 'aria-hidden': 'true' }), text);
}

/** The envelope around the form. */
function Frame({ children }) {
  return h('main', { class: 'door' },
    h('div', { class: 'door-card' },
      h('header', { class: 'door-flap' },
        h('div', { class: 'door-switches' },
          h(Choice, { label: t('settings.language'), name: 'door-language', bare: true, value: state.lang, choose: setLanguage,
            options: tongues.map(({ lang, label }) => ({ value: lang, label, lang })) }),
          h(Choice, { label: t('settings.theme'), name: 'door-theme', bare: true, value: state.theme, choose: setTheme,
            options: themes.map((value) => ({ value, label: t(`settings.${value}`), icon: themeIcons[value] })) })),
        h('h1', null, h('span', { lang: 'zh' }, '红包'), ' ', h('span', { lang: 'en' }, 'hongbao')),
        h(Coin, null)),
      h('div', { class: 'door-body' }, children)));
}

/** An old coin with a square hole. */
function Coin() {
  return h('svg', { class: 'door-coin', viewBox: '0 0 80 80', 'aria-hidden': 'true' },
    h('circle', { class: 'coin-face', cx: 40, cy: 40, r: 38 }),
    h('circle', { class: 'coin-line', cx: 40, cy: 40, r: 32 }),
    h('rect', { class: 'coin-hole', x: 29, y: 29, width: 22, height: 22, rx: 2 }));
}

export function Ended() {
  const { error } = state.door;
  const { code, word } = /** @type {{code?: number, word?: string}} */ (error);
  const stays = word === 'another' || code === 3501 || code === 3502 || code === 3504;
  return h(Frame, null, h('div', { class: 'stack', role: 'alert' },
    h('h2', null, t(stays ? 'door.stopped' : 'door.signedOut')),
    h('p', { class: 'muted' }, doorWords(error)),
    h('button', { class: 'button primary wide', type: 'button', onClick: comeBack },
      h(Icon, { name: 'reply', size: 20 }), t(stays ? 'door.here' : 'door.signIn'))));
}
