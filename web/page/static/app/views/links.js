// Invites by a link: one is ready at once, as text and as a QR code. Links with other limits, and those that the room has, are folded.
import { h, Component } from '../dom.js';
import { fullTime, number } from '../format.js';
import { inWords, t } from '../words.js';
import { go } from '../route.js';
import { makeLink, readLinks, revokeLink } from '../actions/links.js';
import { Choice } from './choice.js';
import { Icon } from './icon.js';
import { Failed, Loading } from './parts.js';
import { SharedLink, UsualLink } from './shared-link.js';

const lasts = ['3600', '86400', '604800', '2592000']; // seconds
const many = ['0', '1', '10', '100'];

/** Props: view; id, of the packet that the link is shared for. */
export class Links extends Component {
  state = { seconds: '604800', most: '0', approval: false, address: '', busy: false, error: null, links: null, unread: null };

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

  render({ view, id }, { address }) {
    return h('div', { class: 'links stack' },
      address ? h(SharedLink, { address, view }) : h(UsualLink, { view, id, made: () => this.state.links && this.read() }),
      h('button', { class: 'button wide', type: 'button', onClick: () => go({ sheet: { name: 'invite' } }, { replace: true }) }, h(Icon, { name: 'people', size: 20 }), t('links.people')),
      h('details', { class: 'compose-more', onToggle: (e) => e.target.open && this.read() },
        h('summary', null, t('links.limits')),
        h('div', { class: 'stack' }, this.limits(), this.list())));
  }

  limits() {
    const { seconds, most, approval, busy, error } = this.state;
    const options = (place, values) => values.map((value) => ({ value, label: t(`links.${place}.${value}`) }));
    return [
      h(Choice, { label: t('links.expiry'), name: 'link-expiry', value: seconds, options: options('lasts', lasts), choose: (value) => this.setState({ seconds: value }) }),
      h(Choice, { label: t('links.uses'), name: 'link-uses', value: most, options: options('many', many), choose: (value) => this.setState({ most: value }) }),
      h('label', { class: 'switch' },
        h('span', { class: 'grow' }, t('links.approval'), h('span', { class: 'muted small' }, t('links.approvalMeans'))),
        h('input', { type: 'checkbox', role: 'switch', checked: approval, onChange: (e) => this.setState({ approval: e.target.checked }) })),
      error && h('p', { class: 'problem', role: 'alert' }, inWords(error)),
      h('button', { class: 'button wide', type: 'button', disabled: busy, 'aria-busy': busy, onClick: () => this.run(() => this.make()) }, t('links.make')),
    ];
  }

  list() {
    const { busy, links, unread } = this.state;
    const { view } = this.props;
    return h('section', { class: 'stack', 'aria-label': t('links.all') },
      h('h3', null, t('links.all')),
      unread && h(Failed, { error: unread, again: () => this.read() }),
      !links && !unread && h(Loading, null),
      links?.length === 0 && h('p', { class: 'muted' }, t('links.none')),
      h('ul', { class: 'panel-list' }, links?.map((link) => h('li', { key: link.id },
        h(Row, { link, busy, revoke: () => this.run(() => revokeLink(view, link.id)) })))));
  }
}

function Row({ link, busy, revoke }) {
  const until = fullTime(link.expires_at);
  return h('div', { class: 'panel-row' },
    h('span', { class: 'grow' },
      h('span', { class: 'line' }, t('links.used', { uses: link.uses, shown: number(link.uses), most: link.max_uses ? number(link.max_uses) : '' })),
      h('span', { class: 'muted small line' }, t('links.by', { name: link.by.name || link.by.id }), ' · ', t('links.until', { until }), link.approval && ` · ${t('links.approved')}`)),
    h('button', { class: 'button', type: 'button', disabled: busy, 'aria-label': t('links.revokeLink', { until }), onClick: revoke }, t('links.revoke')));
}
