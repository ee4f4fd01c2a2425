// A picture of a message. Its place has the right size before it is loaded, with the colours of the picture. A link that has ended is renewed once.
import { h, Component } from '../dom.js';
import { t } from '../words.js';
import { addressOfFile } from '../actions/files.js';
import { bytesOf, localOf } from '../model/files.js';
import { Icon } from './icon.js';

/** Props: room, file, version; button: it opens the picture, and has class, label, disabled and open; eager: it is loaded even where it is not visible. */
export class Picture extends Component {
  state = { url: '', loaded: false, failed: false };
  renewed = false;

  componentDidMount() { this.load(false); }

  componentDidUpdate(before) {
    const { file, version } = this.props;
    if (file.id === before.file.id && version === before.version) return;
    if (localOf(file) && this.state.url === localOf(file)) return; // the user's own picture has been sent
    this.renewed = false;
    this.setState({ loaded: false, failed: false });
    this.load(false);
  }

  componentWillUnmount() { this.gone = true; }

  async load(renew) {
    const { room, file, version } = this.props;
    const own = localOf(file);
    try {
      const url = own ?? await addressOfFile(room, file, version, renew);
      if (!this.gone && this.props.file.id === file.id && this.props.version === version) this.setState({ url, failed: false });
    } catch {
      if (!this.gone) this.setState({ failed: true });
    }
  }

  /** The colours stay until the picture can be drawn. @param {any} e */
  there = (e) => {
    const shown = () => { if (!this.gone) this.setState({ loaded: true }); };
    e.target.decode().then(shown, shown);
  };

  broken = () => {
    if (this.renewed || localOf(this.props.file)) this.setState({ failed: true });
    else this.again();
  };

  again = () => {
    this.renewed = true;
    this.setState({ failed: false, url: '' });
    this.load(true);
  };

  render({ file, button, eager }, { url, loaded, failed }) {
    const content = [
      !loaded && !failed && h(Blur, { blur: file.blur }),
      url && !failed && h('img', {
        class: 'picture', loading: eager ? 'eager' : 'lazy', decoding: 'async', draggable: false, alt: '', src: url,
        onLoad: this.there, onError: this.broken,
      }),
      failed && h('span', { class: 'picture-failed' },
        h(Icon, { name: 'picture', size: 28 }), h('span', { class: 'small' }, t('files.missing')),
        button ? h('span', { class: 'small' }, t('again')) : h('button', { class: 'button', type: 'button', onClick: this.again }, t('again'))),
    ];
    if (!button) return content;
    const { class: kind, label, disabled, open } = button;
    return h('button', {
      class: kind, type: 'button', disabled, 'aria-label': failed ? `${t('files.missing')} ${t('again')}` : label, onClick: failed ? this.again : open,
    }, content);
  }
}

const side = 4; // pixels

/** The colours of a picture that is not loaded yet. */
function Blur({ blur }) {
  const colours = bytesOf(blur);
  if (colours.length !== 3 * side * side) return null;
  const draw = (/** @type {HTMLCanvasElement|null} */ canvas) => {
    const pen = canvas?.getContext('2d');
    if (!pen) return;
    const data = pen.createImageData(side, side);
    for (let n = 0; n < side * side; n++) data.data.set([...colours.slice(3 * n, 3 * n + 3), 255], 4 * n);
    pen.putImageData(data, 0, 0);
  };
  return h('canvas', { class: 'picture-blur', width: side, height: side, ref: draw, 'aria-hidden': 'true' });
}
