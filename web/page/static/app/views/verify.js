// "Verify": the page computes the shares of a finished packet from the revealed seed.
import { h, Component, createRef } from '../dom.js';
import { t } from '../words.js';
import { verifyPacket } from '../../sdk/verify.js';
import { Icon } from './icon.js';

const lines = ['commitment', 'sum', 'shares'];

export class Verify extends Component {
  state = { busy: false, verdict: null };
  /** @type {{current: any}} */ root = createRef();

  verify = async () => {
    const { packet, state, claims } = this.props.view;
    if (this.state.busy) return;
    this.setState({ busy: true });
    const verdict = await verifyPacket({ packet, proof: claims.proof, claims: claims.all, state }).catch(() => ({ unavailable: true }));
    this.setState({ busy: false, verdict }, () => this.root.current?.focus({ preventScroll: true }));
  };

  render({ view }, { busy, verdict }) {
    return h('section', { class: 'verify stack', ref: this.root, tabIndex: -1, 'aria-label': t('packet.verify.title'),
      'aria-live': 'polite' },
      !view.claims?.proof
        ? h('p', { class: 'muted small' }, t(view.state.status === 'open' ? 'packet.verify.notYet' : 'loading'))
        : verdict ? h(Verdict, { verdict, name: view.packet.from.name })
          : h('button', { class: 'button', type: 'button', 'aria-busy': busy, onClick: this.verify }, h(Icon, { name: 'check' }),
            t('packet.verify.button')));
  }
}

function Verdict({ verdict, name }) {
  if (verdict.unavailable) return h('p', { class: 'small' }, t('packet.verify.unavailable'));
  const good = lines.every((line) => verdict[line]);
  return [
    h('ul', { class: 'verdict' }, lines.map((line) => h('li', { key: line, class: verdict[line] ? 'good' : 'problem' },
      h(Icon, { name: verdict[line] ? 'check' : 'warn', size: 20 }), t(`packet.verify.${line}${verdict[line] ? '' : 'Not'}`)))),
    h('p', { class: 'muted small' }, t(good ? 'packet.verify.proves' : 'packet.verify.failed', { name })),
  ];
}
