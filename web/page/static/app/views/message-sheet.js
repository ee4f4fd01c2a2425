// The commands for a message: react, answer, copy, edit, recall.
import { h, Component } from '../dom.js';
import { state, change } from '../state.js';
import { t } from '../words.js';
import { closeSheet } from '../route.js';
import { find } from '../model/timeline.js';
import { keepDraft } from '../model/kept.js';
import { governs } from '../model/rooms.js';
import { copy } from '../actions/copy.js';
import { react, recall } from '../actions/messages.js';
import { removeSoon } from '../actions/removal.js';
import { Act } from './act.js';
import { emptyDraft, isFresh } from './composer-draft.js';
import { EmojiPicker, quick } from './composer-emoji.js';
import { gist } from './line-text.js';
import { Icon } from './icon.js';
import { IconButton } from './parts.js';
import { Report } from './report.js';

/** The id of the host's back end, to which reports go. */
const system = '~system';

export class MessageSheet extends Component {
  state = { all: false };

  /** @param {string} emoji */
  react(emoji) {
    const { view, id } = this.props;
    const item = view.timeline.items[find(view.timeline, Number(id))];
    closeSheet();
    if (item) react(view, item.seq, emoji, !item.mine?.has(emoji));
  }

  /** @param {Partial<import('../state.js').Draft>} draft */
  write(draft) {
    const { view } = this.props;
    change(() => { view.draft = { ...view.draft, ...draft }; });
    keepDraft(view.room.id, view.draft);
    closeSheet();
  }

  /** The earlier draft comes back when the edit is done or given up. */
  edit(item) {
    const { draft } = this.props.view;
    const before = draft.editing === null ? draft.text : draft.before;
    this.write({ ...emptyDraft(), editing: item.seq, text: item.body.text, before });
  }

  async copy(item) {
    if (await copy(item.body.text)) this.close();
  }

  componentWillUnmount() { this.gone = true; }

  /** Unless the user has closed it before the answer came. */
  close() { if (!this.gone) closeSheet(); }

  /** The command to take the message back, or to remove one of another user. */
  recall(item) {
    const own = item.from.id === state.me.id;
    return h(Act, {
      icon: 'trash', kind: 'danger', label: t(own ? 'message.recall' : 'message.remove'), yes: t(own ? 'message.recallYes' : 'message.removeYes'),
      question: own ? t('message.recallAsk') : t('message.removeAsk', { name: item.from.name || item.from.id }),
      act: async () => {
        if (own) await recall(this.props.view, item);
        else removeSoon(this.props.view, item);
        this.close();
      },
    });
  }

  render({ view, id }, { all }) {
    const item = view.timeline.items[find(view.timeline, Number(id))];
    if (!item || item.body.recalled) return h('p', { class: 'muted' }, t('timeline.recalled'));
    const text = item.kind === 'text';
    const muted = (view.mute?.until ?? 0) > Date.now();
    const fresh = isFresh(item);
    const may = {
      react: !muted, reply: !muted, copy: text && item.body.text, edit: fresh && item.body.text && !muted,
      report: item.from.id !== state.me.id && item.from.id !== system,
      recall: text && (fresh || (governs(view) && view.room.kind !== 'direct')),
    };
    return h('div', { class: 'message-sheet' },
      h('blockquote', { class: 'about small muted', dir: 'auto' },
        h('b', null, item.from.id === state.me.id ? t('you') : item.from.name), ' ', gist(item)),
      may.react && h('div', { class: 'quick', role: 'group', 'aria-label': t('message.react') },
        quick.map((emoji) => h('button', {
          class: 'button quiet icon', type: 'button', key: emoji, 'aria-pressed': !!item.mine?.has(emoji), onClick: () => this.react(emoji),
        }, emoji)),
        h(IconButton, { icon: 'plus', label: t('message.moreEmojis'), 'aria-expanded': all, onClick: () => this.setState({ all: !all }) })),
      all && h(EmojiPicker, { onPick: (emoji) => this.react(emoji), onClose: () => this.setState({ all: false }) }),
      h('div', { class: 'acts' },
        may.reply && act('reply', t('message.reply'), () => this.write({ replyTo: item.seq, editing: null })),
        may.copy && act('copy', t('message.copy'), () => this.copy(item)),
        may.edit && act('edit', t('message.edit'), () => this.edit(item)),
        may.recall && this.recall(item),
        may.report && h(Report, {
          key: item.seq,
          about: { room: view.room.id, seq: item.seq }, question: t(text ? 'report.askMessage' : 'report.askPacket', { name: item.from.name || item.from.id }),
        })));
  }
}

function act(icon, label, onClick) {
  return h('button', { class: 'act', type: 'button', onClick }, h(Icon, { name: icon }), label);
}
