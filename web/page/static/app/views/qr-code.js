// A QR code. The code that draws it is loaded when one is shown for the first time.
import { h, Component } from '../dom.js';

const quiet = 4; // modules around it

/** Props: text, label. */
export class QRCode extends Component {
  state = { rows: /** @type {Uint8Array[]} */ ([]) };

  componentDidMount() { this.draw(); }

  componentDidUpdate({ text }) { if (text !== this.props.text) this.draw(); }

  async draw() {
    let rows = [];
    try {
      rows = (await import('../qr.js')).qrCode(this.props.text);
    } catch { /* the text is too long, or there is no connection: the text itself is shown beside it */ }
    this.setState({ rows });
  }

  render({ label }, { rows }) {
    if (!rows.length) return null;
    const size = rows.length + 2 * quiet;
    return h('svg', { class: 'qr', viewBox: `0 0 ${size} ${size}`, role: 'img', 'aria-label': label, 'shape-rendering': 'crispEdges' },
      h('rect', { width: size, height: size, fill: '#fff' }),
      h('path', { fill: '#000', d: rows.map((row, y) => line(row, y)).join('') }));
  }
}

/** The dark modules of a row, as a path. @param {Uint8Array} row @param {number} y */
function line(row, y) {
  return [...row.join('').matchAll(/1+/g)].map(({ 0: run, index }) => `M${index + quiet} ${y + quiet}h${run.length}v1h-${run.length}z`).join('');
}
