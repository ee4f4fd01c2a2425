// Makes invite links of a room, shows a new one as text and as a QR code, and lists and revokes those that work.
import { h, Component } from '../dom.js';
import { fullTime, number } from '../format.js';
import { inWords, t } from '../words.js';
import { copy } from '../actions/copy.js';
import { makeLink, readLinks, revokeLink } from '../actions/links.js';
import { nameOf } from '../model/rooms.js';
import { Choice } from './choice.js';
import { Icon } from './icon.js';
import { Failed, Loading } from './parts.js';
import { QRCode } from './qr-code.js';

const lasts = ['3600', '86400', '604800', '2592000']; // seconds
const many = ['0', '1', '10', '100'];

/** Props: view; id, of the packet that the link is shared for. */
export class Links extends Component {
  state = { seconds: '604800', most: '0', approval: false, address: '', busy: false, error: null, links: null, unread: null };

  componentDidMount() { this.read(); }

  componentWillUnmount() { this.gone = true; }

  async read() {
    try {
      const links = await readLinks(this.props.view);
      if (!this.gone) this.setState({ links, unread: null });
    } catch (unread) {
      if (!this.gone) this.setState({ unread });
    }
  }

  /** Runs a command, then reads the links again. @param {() => Promise<any>} act */
  async run(act) {
    if (this.state.busy) return;
    this.setState({ busy: true, error: null });
    let error = null;
    try {
      await act();
    } catch (e) {
      error = e;
    }
    if (this.gone) return;
    this.setState({ busy: false, error });
    this.read();
  }

  async make() {
    const { view, id } = this.props;
    const address = await makeLink(view, { seconds: Number(this.state.seconds), most: Number(this.state.most), approval: this.state.approval, packet: id });
    if (!this.gone) this.setState({ address });
  }

  render({ view }, { seconds, most, approval, address, busy, error, links, unread }) {
    const options = (place, values) => values.map((value) => ({ value, label: t(`links.${place}.${value}`) }));
    return h('div', { class: 'links stack' },
      address && h(NewLink, { address, view }),
      h(Choice, { label: t('links.expiry'), name: 'link-expiry', value: seconds, options: options('lasts', lasts), choose: (value) => this.setState({ seconds: value }) }),
      h(Choice, { label: t('links.uses'), name: 'link-uses', value: most, options: options('many', many), choose: (value) => this.setState({ most: value }) }),
      h('label', { class: 'switch' },
        h('span', { class: 'grow' }, t('links.approval'), h('span', { class: 'muted small' }, t('links.approvalMeans'))),
        h('input', { type: 'checkbox', role: 'switch', checked: approval, onChange: (e) => this.setState({ approval: e.target.checked }) })),
      error && h('p', { class: 'problem', role: 'alert' }, inWords(error)),
      h('button', { class: 'button primary wide', type: 'button', disabled: busy, 'aria-busy': busy, onClick: () => this.run(() => this.make()) }, t('links.make')),
      h('section', { class: 'stack', 'aria-label': t('links.working') },
        h('h3', null, t('links.working')),
        unread && h(Failed, { error: unread, again: () => this.read() }),
        !links && !unread && h(Loading, null),
        links?.length === 0 && h('p', { class: 'muted' }, t('links.none')),
        h('ul', { class: 'panel-list' }, links?.map((link) => h('li', { key: link.id },
          h(Row, { link, busy, revoke: () => this.run(() => revokeLink(view, link.id)) }))))));
  }
}

function NewLink({ address, view }) {
  const share = () => navigator.share({ title: nameOf(view), text: t('links.invitation', { room: nameOf(view) }), url: address })
    .catch(() => {}); // the user has closed the sheet of the system
  return h('section', { class: 'new-link stack', 'aria-label': t('links.newLink') },
    h(QRCode, { text: address, label: t('links.qr') }),
    h('input', { class: 'input', readOnly: true, 'aria-label': t('links.newLink'), value: address, onFocus: (e) => e.target.select() }),
    h('p', { class: 'muted small', role: 'status' }, t('links.copyNow')),
    h('div', { class: 'row' },
      h('button', { class: 'button grow', type: 'button', onClick: () => copy(address) }, h(Icon, { name: 'copy', size: 18 }), t('info.copy')),
      'share' in navigator && h('button', { class: 'button grow', type: 'button', onClick: share }, h(Icon, { name: 'send', size: 18 }), t('links.share'))));
}

function Row({ link, busy, revoke }) {
  const until = fullTime(link.expires_at);
  return h('div', { class: 'panel-row' },
    h('span', { class: 'grow' },
      h('span', { class: 'line' }, t('links.used', { uses: link.uses, shown: number(link.uses), most: link.max_uses ? number(link.max_uses) : '' })),
      h('span', { class: 'muted small line' }, t('links.by', { name: link.by.name || link.by.id }), ' · ', t('links.until', { until }), link.approval && ` · ${t('links.approved')}`)),
    h('button', { class: 'button', type: 'button', disabled: busy, 'aria-label': t('links.revokeLink', { until }), onClick: revoke }, t('links.revoke')));
}
