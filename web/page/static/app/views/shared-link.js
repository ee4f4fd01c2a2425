// A link for friends: as a QR code and as text, to copy and to share.
import { h, Component } from '../dom.js';
import { t } from '../words.js';
import { copy } from '../actions/copy.js';
import { invitationOf } from '../actions/links.js';
import { governs, nameOf } from '../model/rooms.js';
import { packetForNewcomers } from '../model/waiting.js';
import { Icon } from './icon.js';
import { Failed, Loading } from './parts.js';
import { QRCode } from './qr-code.js';

/** Props: address, view, note. */
export function SharedLink({ address, view, note }) {
  const share = () => navigator.share({ title: nameOf(view), text: t('links.invitation', { room: nameOf(view) }), url: address })
    .catch(() => {}); // the user has closed the sheet of the system
  return h('section', { class: 'new-link stack', 'aria-label': t('links.newLink') },
    h(QRCode, { text: address, label: t('links.qr') }),
    h('input', { class: 'input', readOnly: true, 'aria-label': t('links.newLink'), value: address, onFocus: (e) => e.target.select() }),
    h('div', { class: 'row' },
      h('button', { class: 'button primary grow', type: 'button', onClick: () => copy(address) }, h(Icon, { name: 'copy', size: 18 }), t('links.copy')),
      'share' in navigator && h('button', { class: 'button grow', type: 'button', onClick: share }, h(Icon, { name: 'send', size: 18 }), t('links.share'))),
    note && h('p', { class: 'muted small' }, note));
}

/** The user's usual invitation, which is made when it is shown. Props: view; id, of the packet that it is shared for. */
export class UsualLink extends Component {
  state = { address: '', error: null };

  componentDidMount() { this.load(); }

  componentWillUnmount() { this.gone = true; }

  async load() {
    this.setState({ error: null });
    try {
      const address = await invitationOf(this.props.view, this.props.id);
      if (this.gone) return;
      this.setState({ address });
      this.props.made?.();
    } catch (error) {
      if (!this.gone) this.setState({ error });
    }
  }

  render({ view, id }, { address, error }) {
    if (error?.word === 'limit_exceeded') return h('p', { class: 'problem', role: 'alert' }, t(governs(view) ? 'links.full' : 'links.fullAsk'));
    if (error) return h(Failed, { error, again: () => this.load() });
    const carried = !id && packetForNewcomers(view.room.id);
    const note = [carried && t('links.carries', { greeting: carried.greeting }), t('links.usual')].filter(Boolean).join(' ');
    return address ? h(SharedLink, { address, view, note }) : h(Loading, null);
  }
}
