// Makes a link that takes a guest to another device.
import { h, Component } from '../dom.js';
import { inWords, t } from '../words.js';
import { copy } from '../actions/copy.js';
import { newDeviceLink } from '../actions/profile.js';
import { Icon } from './icon.js';
import { QRCode } from './qr-code.js';

export class DeviceLink extends Component {
  state = { link: '', busy: false, error: null };

  make = async () => {
    this.setState({ busy: true, error: null });
    try {
      this.setState({ link: await newDeviceLink(), busy: false });
    } catch (error) {
      this.setState({ busy: false, error });
    }
  };

  render(_, { link, busy, error }) {
    return h('section', { class: 'stack device-link', 'aria-label': t('device.title') },
      h('h3', null, t('device.title')),
      h('p', { class: 'muted small' }, t(link ? 'device.open' : 'device.means')),
      link && h(QRCode, { text: link, label: t('device.qr') }),
      link && h('input', { class: 'input', readOnly: true, value: link, 'aria-label': t('device.link'), onFocus: (e) => e.target.select() }),
      error && h('p', { class: 'problem', role: 'alert' }, error.word === 'unreachable' ? t('door.unreachable') : inWords(error)),
      h('div', { class: 'row' },
        link && h('button', { class: 'button grow', type: 'button', onClick: () => copy(link) }, h(Icon, { name: 'copy', size: 20 }), t('info.copy')),
        h('button', { class: 'button grow', type: 'button', disabled: busy, 'aria-busy': busy, onClick: this.make },
          t(link ? 'device.another' : 'device.make'))));
  }
}
