// Users that ask to enter a room, for its owner and admins.
import { h, Component } from '../dom.js';
import { ago } from '../format.js';
import { inWords, t } from '../words.js';
import { answerRequest, readRequests } from '../actions/links.js';
import { Avatar, Time } from './parts.js';

/** Props: view; asking: how many ask, as last told. */
export class JoinRequests extends Component {
  state = { requests: /** @type {any[]} */ ([]), busy: '', error: null };

  componentDidMount() { this.read(); }

  componentDidUpdate({ asking }) { if (asking !== this.props.asking) this.read(); }

  componentWillUnmount() { this.gone = true; }

  async read() {
    try {
      const requests = await readRequests(this.props.view);
      if (!this.gone) this.setState({ requests });
    } catch { /* the next push or the next visit reads them again */ }
  }

  /** @param {string} user @param {boolean} admit */
  async answer(user, admit) {
    if (this.state.busy) return;
    this.setState({ busy: user, error: null });
    let error = null;
    try {
      await answerRequest(this.props.view, user, admit);
    } catch (e) {
      error = e;
    }
    if (this.gone) return;
    this.setState({ busy: '', error });
    this.read();
  }

  render(_, { requests, busy, error }) {
    if (!requests.length) return null;
    return h('section', { class: 'stack', 'aria-label': t('requests.title') },
      h('h3', null, t('requests.title')),
      error && h('p', { class: 'problem', role: 'alert' }, inWords(error)),
      h('ul', { class: 'panel-list' }, requests.map(({ user, at }) => h('li', { key: user.id, class: 'panel-row' },
        h(Avatar, { user }),
        h('span', { class: 'grow' }, h('span', { class: 'cut line', dir: 'auto' }, user.name), h('span', { class: 'muted small line' }, h(Time, { at }, ago(at)))),
        h('button', { class: 'button', type: 'button', disabled: !!busy, 'aria-label': t('requests.refuseName', { name: user.name }), onClick: () => this.answer(user.id, false) },
          t('requests.refuse')),
        h('button', { class: 'button primary', type: 'button', disabled: !!busy, 'aria-label': t('requests.admitName', { name: user.name }), onClick: () => this.answer(user.id, true) },
          t('requests.admit'))))));
  }
}
