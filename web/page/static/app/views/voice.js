// A recording: a button, how loud it is from its beginning to its end, its time and its speed.
import { h, Component } from '../dom.js';
import { t } from '../words.js';
import { number, playTime } from '../format.js';
import { changeRate, followPlayer, player, playFrom, playOrPause } from '../actions/player.js';
import { download } from '../actions/files.js';
import { bytesOf } from '../model/files.js';
import { Icon } from './icon.js';

const bars = 36;
const tall = 28; // px
const wide = 4; // px of a bar and the gap behind it

/** Props: room, file, sending: it is not sent yet, but can be heard. */
export class Voice extends Component {
  componentDidMount() { this.end = followPlayer(() => this.setState({})); }

  componentWillUnmount() { this.end(); }

  render({ room, file, sending }) {
    const now = player.id === file.id;
    const playing = now && player.playing;
    const total = file.duration_ms ?? 0;
    const at = now ? Math.min(player.at * 1000, total) : 0;
    const time = playTime(at > 0 ? at : total);
    return h('div', { class: 'voice', role: 'group', 'aria-label': t('files.recording', { time: playTime(total) }) },
      h('button', {
        class: 'voice-play', type: 'button', 'aria-label': t(playing ? 'files.pause' : 'files.play'), onClick: () => playOrPause(room, file),
      }, h(Icon, { name: playing ? 'pause' : 'play' })),
      h('span', { class: 'voice-wave' },
        h(Wave, { loud: bytesOf(file.wave), part: total ? at / total : 0 }),
        h('input', {
          type: 'range', min: 0, max: 100, value: total ? Math.round((at / total) * 100) : 0, 'aria-label': t('files.position'),
          'aria-valuetext': t('files.timeOf', { at: playTime(at), total: playTime(total) }), onInput: (e) => playFrom(room, file, Number(e.target.value) / 100),
        })),
      h('span', { class: 'voice-time small number' }, time),
      now && h('button', { class: 'voice-rate small number', type: 'button', 'aria-label': t('files.speed', { rate: number(player.rate) }), onClick: changeRate },
        h('span', null, `${number(player.rate)}×`)),
      now && player.failed && h('p', { class: 'voice-failed problem', role: 'alert' }, t('files.noPlay'), ' ',
        !sending && h('button', { class: 'button quiet small', type: 'button', onClick: () => download(room, file) }, t('files.save'))));
  }
}

/** @param {{loud: number[], part: number}} props loud: 0 to 255, from the beginning to the end; part: how much of it was played */
export function Wave({ loud, part }) {
  const most = Math.max(64, ...loud);
  return h('svg', { viewBox: `0 0 ${bars * wide} ${tall}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' }, Array.from({ length: bars }, (_, n) => {
    const here = loud.length ? Math.max(...loud.slice(Math.floor(n * loud.length / bars), Math.max(Math.floor(n * loud.length / bars) + 1, Math.ceil((n + 1) * loud.length / bars)))) : 0;
    const high = Math.max(3, (here / most) * tall);
    return h('rect', { key: n, class: n < part * bars ? 'played' : '', x: n * wide, y: (tall - high) / 2, width: wide - 1.5, height: high, rx: 1 });
  }));
}
