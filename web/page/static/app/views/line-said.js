// A message: the name, the bubble or the envelope, and below it reactions and its state.
import { h, Component } from '../dom.js';
import { state, change } from '../state.js';
import { inWords, t } from '../words.js';
import { clock, percent } from '../format.js';
import { openSheet } from '../route.js';
import { jumpTo, loadQuote } from '../actions/history.js';
import { deliver, discard, isKept, react, writeAgain } from '../actions/messages.js';
import { Envelope } from './envelope.js';
import { Files, hasPictures, isAlbum } from './line-files.js';
import { folded } from '../model/fold.js';
import { allNames, isMentioned } from '../model/mentions.js';
import { Bar } from './line-bar.js';
import { Icon } from './icon.js';
import { LongPress } from './line-press.js';
import { gist } from './line-text.js';
import { hasBlocks, rich } from './line-markup.js';
import { LinkCard } from './line-preview.js';
import { IconButton, Time } from './parts.js';
import { mayThank, Thanks } from './thanks.js';

/** The mark of a message of two people that the other one has read. */
export const bothRead = '✓✓';

export class Said extends Component {
  state = { over: false }; // the pointer or the focus is on the message

  press = new LongPress(() => this.open());

  enter = (e) => { if (state.wide && e.pointerType !== 'touch') this.setState({ over: true }); };
  leave = (e) => {
    this.press.stop();
    if (!e.currentTarget.contains(e.relatedTarget)) this.setState({ over: false });
  };

  handlers = { ...this.press.handlers, onPointerEnter: this.enter, onPointerLeave: this.leave, onfocusin: this.enter, onfocusout: this.leave };

  open() {
    const { item, sending } = this.props;
    if (!sending && !item.body.recalled) openSheet('message', String(item.seq));
  }

  render(props, { over }) {
    const { item, own, head, guest, sending, view } = props;
    const { body, from } = item;
    const may = !sending && !body.recalled;
    return h('div', { class: 'said' },
      head && !own && h('button', {
        class: 'sender cut small', type: 'button', 'data-mark': guest ? t('person.guest') : undefined, onClick: () => openSheet('person', from.id),
      }, h('bdi', null, from.name || from.id)), // the mark stays behind the name
      own && h('span', { class: 'only-read' }, t('you')),
      h('div', { class: 'said-row', ...(may && this.handlers) },
        item.kind === 'packet' ? h(Envelope, sending ? { sending, view } : { item, view }) : h(Bubble, props),
        may && over && h(Bar, { item, view }),
        may && h(IconButton, { icon: 'more', label: t('message.more'), size: 18, class: 'more-button', onClick: () => this.open() })),
      body.reactions && !body.recalled && h(Reactions, props),
      item.kind === 'packet' && !sending && mayThank(item) && h(Thanks, { packet: body, brief: true }),
      sending?.files && props.status === 'sending' && h(Uploading, props),
      sending?.kind === 'text' && props.status === 'failed' && h(Unsent, props),
      props.readers && h('p', { class: 'readers small muted' }, props.readers === bothRead ? h('span', { role: 'img', 'aria-label': t('timeline.read') }, bothRead) : props.readers));
  }
}

function Bubble(props) {
  const { item, own, words, sending, status, view } = props;
  const { body } = item;
  if (body.recalled) {
    return h('p', { class: 'bubble recalled' }, recalledWords(item, own), ' ',
      isKept(view, item.seq) && h('button', { class: 'again', type: 'button', onClick: () => writeAgain(view, item.seq) }, t('timeline.writeAgain')),
      h(When, { item }));
  }
  const forMe = !own && isMentioned(body);
  const media = hasPictures(body);
  const when = h(When, { item, edited: body.edited_at, waiting: sending && status === 'sending', failed: status === 'failed' });
  const said = body.text ? [h(Text, { view, item, names: words.split('\0') }), body.preview && h(LinkCard, { preview: body.preview })]
    : !body.files && h('span', { class: 'attachment' }, h(Icon, { name: 'copy', size: 18 }), t('timeline.attachment'));
  return h('div', { class: ['bubble', forMe && 'for-me', media && 'media', !body.text && isAlbum(body) && 'bare'].filter(Boolean).join(' ') },
    body.reply_to && h(Quote, props),
    body.files && h(Files, { room: view.room.id, seq: item.seq, files: body.files, sending: !!sending }),
    body.files && body.text ? h('div', { class: 'caption' }, said, when) : [said, when]);
}

/** A long text is folded. */
function Text({ view, item: { seq, from, body: { text, mentions = [], mention_all: toAll } }, names }) {
  const part = view.unfolded.has(seq) ? text : folded(text);
  const all = toAll ? allNames : [];
  const said = rich(part, [...names.slice(0, mentions.length), ...all], [...mentions, ...all.map(() => (from.id === state.me.id ? '' : state.me.id))]);
  return [
    h(hasBlocks(said) ? 'div' : 'span', { class: 'text', dir: 'auto' }, said),
    part !== text && h('button', { class: 'unfold', type: 'button', onClick: () => change(() => { view.unfolded = new Set([...view.unfolded, seq]); }) },
      t('timeline.unfold')),
  ];
}

function recalledWords({ from, body: { by, retired } }, own) {
  if (retired) return t('timeline.retired');
  if (!by || (by.id === from.id && !own)) return t('timeline.recalled');
  if (by.id === from.id) return t('timeline.recalledOwn');
  return t('timeline.removed', { by: by.id === state.me.id ? t('you') : by.name || by.id, own });
}

/** The time, and the state. */
function When({ item, edited, waiting, failed }) {
  return h('span', { class: 'when' },
    edited && h('span', null, t('timeline.edited')),
    h(Time, { at: item.at }, clock(item.at)),
    waiting && h('span', { class: 'mark', role: 'img', 'aria-label': t('timeline.sending') }, h(Icon, { name: 'clock', size: 14 })),
    failed && h('span', { class: 'mark bad' }, h(Icon, { name: 'warn', size: 14 })));
}

/** The message that is answered. */
class Quote extends Component {
  componentDidMount() { this.load(); }

  componentDidUpdate() { this.load(); }

  load() {
    const { quote, view, item } = this.props;
    if (!quote) loadQuote(view, item.body.reply_to);
  }

  render({ quote, quoteHidden, view, item }) {
    const jump = () => jumpTo(view, item.body.reply_to, item.seq);
    return h('button', { class: 'quote', type: 'button', title: t('timeline.toQuoted'), onClick: jump },
      h('span', { class: 'only-read' }, t('timeline.inReplyTo')),
      quoteHidden ? h('span', { class: 'cut' }, t('timeline.blocked', { count: 1 })) : quote ? [h('b', { class: 'cut', dir: 'auto' }, quote.from.name), h('span', { class: 'cut', dir: 'auto' }, gist(quote))]
        : h('span', { class: 'cut' }, t('timeline.earlier')));
  }
}

function Reactions({ item, view }) {
  const { reactions } = item.body;
  return h('div', { class: 'reactions' }, Object.keys(reactions).map((emoji) => {
    const mine = !!item.mine?.has(emoji);
    return h('button', {
      class: 'reaction', type: 'button', key: emoji, 'aria-pressed': mine,
      'aria-label': t('timeline.reaction', { emoji, count: reactions[emoji] }),
      onClick: () => react(view, item.seq, emoji, !mine),
    }, h('span', null, emoji), h('span', { class: 'number' }, reactions[emoji]));
  }));
}

/** Files that are being uploaded. */
function Uploading({ sending, view, progress = 0, lost }) {
  return h('div', { class: 'uploading small' },
    h('progress', { max: 1, value: progress, 'aria-label': t('attach.uploading') }),
    h('span', { class: 'number muted' }, lost ? t('attach.waiting') : progress < 1 ? percent(Math.min(progress, 0.99)) : t('attach.checking')),
    h('button', { class: 'button quiet small', type: 'button', onClick: () => discard(view.room.id, sending) }, t('cancel')));
}

/** A message that was not sent. */
function Unsent({ sending, view, error }) {
  return h('div', { class: 'failed' },
    h('p', { class: 'problem', role: 'alert' }, sending.request.mention_all && error?.word === 'rate_limited' ? t('timeline.allTooOften') : inWords(error)),
    h('button', { class: 'button small', type: 'button', onClick: () => deliver(sending) }, t('again')),
    h('button', { class: 'button quiet small', type: 'button', onClick: () => discard(view.room.id, sending) }, t('timeline.discard')));
}
