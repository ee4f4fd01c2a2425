// The picture of an opened packet that a user shows to others: skin, amount, crown, room and date.
import { h, Component } from '../dom.js';
import { state, toast } from '../state.js';
import { t } from '../words.js';
import { money, wholeDay } from '../format.js';
import { nameOf } from '../model/rooms.js';
import { sharePicture, sharesPictures } from '../actions/save.js';
import { crownBand, crownGold } from './crown.js';
import { Icon } from './icon.js';
import { luckOf } from './opening-words.js';

const width = 720;
const height = 960;

export class ShareCard extends Component {
  state = { busy: false };

  share = async (/** @type {any} */ e) => {
    const { view } = this.props;
    if (this.state.busy) return;
    this.setState({ busy: true });
    try {
      await sharePicture(`hongbao-${view.packet.id}.png`, await drawCard(view, e.currentTarget.closest('.opening')));
    } catch {
      toast(t('packet.notSaved'));
    } finally {
      this.setState({ busy: false });
    }
  };

  render(_, { busy }) {
    const shares = sharesPictures();
    return h('button', { class: 'button quiet small', type: 'button', 'aria-busy': busy, onClick: this.share },
      h(Icon, { name: shares ? 'out' : 'download', size: 16 }), t(shares ? 'packet.share' : 'packet.save'));
  }
}

/** @param {import('../state.js').PacketView} view @param {Element} opening has the colours of the skin @returns {Promise<Blob>} */
async function drawCard(view, opening) {
  const style = getComputedStyle(opening);
  const canvas = Object.assign(document.createElement('canvas'), { width, height });
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  const colour = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim();
  pen.fillStyle = colour('envelope-deep');
  pen.fillRect(0, 0, width, height);
  await drawSkin(pen, getComputedStyle(/** @type {Element} */ (opening.querySelector('.opening-skin'))).backgroundImage);
  drawFlap(pen, colour);
  pen.textAlign = 'center';
  write(pen, view.packet.greeting, 150, 40, `600 40px ${style.fontFamily}`, colour('on-envelope'));
  drawAmount(pen, money(view.state.mine?.amount ?? 0), 400, style.getPropertyValue('--figures'), colour('gold'));
  if (luckOf(view).luckiest) drawCrown(pen, colour);
  const room = state.rooms.get(view.packet.room);
  write(pen, t(luckOf(view).luckiest ? 'packet.luckiest' : 'packet.got'), 262, 30, `500 30px ${style.fontFamily}`, colour('gold'));
  write(pen, room ? nameOf(room) : '', 700, 34, `600 34px ${style.fontFamily}`, colour('on-envelope'));
  write(pen, wholeDay(view.state.mine?.at ?? view.packet.created_at), 746, 26, `400 26px ${style.fontFamily}`, colour('on-envelope'));
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('the browser makes no PNG'))), 'image/png');
  });
}

/** @param {CanvasRenderingContext2D} pen @param {(name: string) => string} colour */
function drawFlap(pen, colour) {
  pen.beginPath();
  pen.moveTo(0, 0);
  pen.lineTo(width, 0);
  pen.lineTo(width, 480);
  pen.quadraticCurveTo(width / 2, 700, 0, 480);
  pen.closePath();
  pen.fillStyle = colour('envelope');
  pen.shadowColor = 'rgb(60 0 0 / 40%)';
  pen.shadowBlur = 24;
  pen.fill();
  pen.shadowBlur = 0;
  pen.strokeStyle = colour('gold');
  pen.lineWidth = 2;
  pen.stroke();
}

/** At the foot, where no words are. @param {CanvasRenderingContext2D} pen @param {string} background as in CSS; without a url the envelope is plain */
async function drawSkin(pen, background) {
  const src = /url\("([^"]+)"\)/.exec(background)?.[1];
  if (!src) return;
  const image = Object.assign(new Image(), { src });
  try {
    await image.decode();
    pen.drawImage(image, width - 324, height - 188, 320, 176);
  } catch {
    // Without the drawing, the envelope is plain.
  }
}

/** @param {CanvasRenderingContext2D} pen @param {string} text @param {number} y @param {string} font @param {string} fill */
function drawAmount(pen, text, y, font, fill) {
  pen.fillStyle = fill;
  const sizes = [...text].map((letter) => (/[\d.,]/.test(letter) ? 1 : 0.55));
  let size = 150;
  const place = () => {
    let x = 0;
    return [...text].map((letter, i) => {
      pen.font = `700 ${size * sizes[i]}px ${font}`;
      const at = x;
      x += pen.measureText(letter).width;
      return { letter, at, end: x, font: pen.font };
    });
  };
  let letters = place();
  while (letters[letters.length - 1].end > width - 80 && size > 40) {
    size -= 10;
    letters = place();
  }
  const left = (width - letters[letters.length - 1].end) / 2;
  pen.textAlign = 'left';
  for (const l of letters) {
    pen.font = l.font;
    pen.fillText(l.letter, left + l.at, y);
  }
  pen.textAlign = 'center';
}

/** @param {CanvasRenderingContext2D} pen @param {(name: string) => string} colour */
function drawCrown(pen, colour) {
  pen.save();
  pen.translate(width / 2 - 64, 430);
  pen.scale(2, 2);
  pen.fillStyle = colour('gold');
  pen.strokeStyle = '#b57a22';
  pen.lineWidth = 1.5;
  pen.fill(new Path2D(crownGold));
  pen.stroke(new Path2D(crownGold));
  pen.stroke(new Path2D(crownBand));
  pen.restore();
}

/** One or two lines around a place; what does not fit ends with dots. @param {CanvasRenderingContext2D} pen @param {string} text @param {number} y @param {number} size @param {string} font @param {string} fill */
function write(pen, text, y, size, font, fill) {
  pen.font = font;
  pen.fillStyle = fill;
  const fits = (/** @type {string} */ line) => pen.measureText(line).width <= width - 120;
  const lines = [''];
  for (const part of text.match(/[\p{Script=Han}\p{P}]|[^\s\p{Script=Han}]+\s*|\s+/gu) ?? []) {
    if (!fits(lines[lines.length - 1] + part) && lines.length < 2) lines.push('');
    lines[lines.length - 1] += part;
  }
  const last = lines[lines.length - 1];
  if (!fits(last)) {
    const letters = Array.from(new Intl.Segmenter().segment(last), ({ segment }) => segment); // an emoji is cut as a whole
    while (letters.length && !fits(`${letters.join('')}…`)) letters.pop();
    lines[lines.length - 1] = `${letters.join('')}…`;
  }
  lines.forEach((line, i) => pen.fillText(line.trim(), width / 2, y + (i - (lines.length - 1) / 2) * size * 1.3));
}
