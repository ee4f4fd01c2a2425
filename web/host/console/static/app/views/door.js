// Signing in.
import { h, Component } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { signIn } from '../api.js';
import { errorText } from '../parts.js';
import { languageButton } from './shell.js';

export class Door extends Component {
  submit = async (event) => {
    event.preventDefault();
    const form = event.currentTarget;
    const { key, person } = Object.fromEntries(new FormData(form));
    this.setState({ error: undefined, busy: true });
    try {
      await signIn(key, person);
    } catch (error) {
      this.setState({ error: error.status === 401 ? t('door.wrong') : errorText(error), busy: false });
    }
  };

  render(_, { error, busy }) {
    if (!state.session.keys) return card(h('p', null, t('door.noKeys')), h('pre', { tabIndex: 0 }, 'hongbao apikey new --name ann --scopes read,moderate'), h('p', null, t('door.noKeysThen')));
    return card(
      state.session.ended && h('p', { role: 'status', class: 'note' }, t('door.ended')),
      h('form', { onSubmit: this.submit },
        h('label', null, t('door.key'), h('input', { name: 'key', type: 'password', required: true, autocomplete: 'current-password', maxLength: 200 })),
        h('label', null, t('door.person'), h('input', { name: 'person', required: true, maxLength: 64, autocomplete: 'name', 'aria-describedby': 'person-why' })),
        h('p', { id: 'person-why', class: 'muted' }, t('door.personWhy')),
        error && h('p', { role: 'alert', class: 'bad' }, error),
        h('button', { class: 'main', disabled: busy }, t('door.enter'))));
  }
}

function card(...parts) {
  return h('main', { class: 'door' }, h('h1', null, t('title')), parts, h('p', null, languageButton()));
}
