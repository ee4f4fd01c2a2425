// The message field. The draft is stored per room and survives a reload of the tab. Enter sends, unless it ends a word
// of an input method.
import { h, Component, createRef } from '../dom.js';
import { state, change, toast } from '../state.js';
import { t } from '../words.js';
import { number, untilTime } from '../format.js';
import { openSheet } from '../route.js';
import { keepDraft, keptDraft } from '../model/kept.js';
import { edit, say } from '../actions/messages.js';
import { tellTyping } from '../actions/looking.js';
import { attempt } from '../actions/attempt.js';
import { attach } from '../actions/attach.js';
import { mayAttach } from '../model/files.js';
import { takesPackets } from '../model/rooms.js';
import { emptyTray } from '../model/tray.js';
import { AttachButton, bringsFiles, Dropping, Tray } from './composer-files.js';
import { MicButton, mayRecord } from './composer-voice.js';
import { emptyDraft, isForAll, lastToEdit, mentionsOf } from './composer-draft.js';
import { Banner } from './composer-banner.js';
import { aboveKeyboard } from './composer-keyboard.js';
import { EmojiPicker } from './composer-emoji.js';
import { Suggestions, Suggesting } from './composer-mentions.js';
import { Icon } from './icon.js';
import { IconButton } from './parts.js';

const linesShown = 6;
const almost = 0.9; // of the limit; above it the remaining characters are shown

export class Composer extends Component {
  state = { emojis: false, mention: null, busy: false, recorder: null };
  field = createRef();
  suggesting = new Suggesting(this);

  componentDidMount() {
    const { view } = this.props;
    const draft = keptDraft(view.room.id);
    if (draft && !view.draft.text) change(() => { view.draft = { ...emptyDraft(), ...draft }; });
    if (state.wide && !document.activeElement?.closest('.panel')) this.field.current?.focus(); // a hit is chosen in a panel, which stays open
    this.about = this.target();
    this.end = aboveKeyboard();
    const room = this.field.current?.closest('.room');
    if (room) this.dropping = new Dropping(room, (files) => this.take(files));
    this.fit();
  }

  componentWillUnmount() {
    this.end();
    this.dropping?.end();
    this.state.recorder?.cancel();
  }

  /** Begins a recording: the parts of the recorder are loaded when they are needed. */
  record = (Recorder, Bar, held) => {
    this.Bar = Bar;
    const recorder = new Recorder({
      changed: () => this.setState({}),
      send: (file) => this.say('', [file]),
      ended: () => {
        this.setState({ recorder: null });
        if (state.wide) this.wanted = true;
      },
    }, held);
    this.setState({ recorder });
  };

  /** Sends a message, as an answer if the draft is one. @param {string} text @param {import('../model/tray.js').Attached[]} files */
  say(text, files) {
    const { view } = this.props;
    const { draft } = view;
    const mentions = mentionsOf(draft, text);
    const all = isForAll(view, text);
    this.set(emptyDraft());
    say(view.room.id, {
      ...(text && { text }), ...(draft.replyTo !== null && { reply_to: draft.replyTo }), ...(mentions.length && { mentions }), ...(all && { mention_all: true }),
    }, files);
  }

  /** Puts files into the tray. @param {Iterable<File>} files */
  take(files) {
    const { view } = this.props;
    if (view.draft.editing !== null) toast(t('attach.notEdited'));
    else attach(view, files);
    this.field.current?.focus();
  }

  componentDidUpdate() {
    const { draft } = this.props.view;
    if (this.about !== this.target()) {
      this.about = this.target();
      this.wanted = draft.replyTo !== null || draft.editing !== null || draft.again !== undefined;
    }
    if (this.wanted && !state.route.sheet) {
      this.wanted = false;
      this.field.current?.focus();
    }
    this.fit();
  }

  /** The subject of the draft: an answer, an edit, a message to be written again, or none. */
  target() {
    const { replyTo, editing, again } = this.props.view.draft;
    return `${replyTo}/${editing}/${again}`;
  }

  /** As high as the text, up to a number of rows. */
  fit() {
    const field = this.field.current;
    if (!field || this.fitted === field.value + field.clientWidth) return;
    this.fitted = field.value + field.clientWidth;
    field.style.height = 'auto';
    const { lineHeight, paddingTop, paddingBottom } = getComputedStyle(field);
    const most = linesShown * parseFloat(lineHeight) + parseFloat(paddingTop) + parseFloat(paddingBottom);
    field.style.height = `${Math.min(field.scrollHeight, most)}px`;
    field.style.overflowY = field.scrollHeight > most ? 'auto' : 'hidden';
  }

  /** @param {Partial<import('../state.js').Draft>} what */
  set(what) {
    const { view } = this.props;
    change(() => { view.draft = { ...view.draft, ...what }; });
    keepDraft(view.room.id, view.draft);
  }

  input(e) {
    this.set({ text: e.target.value });
    this.suggesting.look();
    if (e.target.value.trim()) tellTyping(this.props.view.room.id);
  }

  /** Inserts text at the caret. @param {string} text @param {number} [from] what is replaced begins here */
  insert(text, from) {
    const field = this.field.current;
    field.setRangeText(text, from ?? field.selectionStart, field.selectionEnd, 'end');
    this.set({ text: field.value });
    field.focus();
  }

  key(e) {
    if (e.isComposing || e.keyCode === 229) return; // a key of the input method
    if (this.suggesting.key(e)) return;
    if (e.key === 'Enter' && !e.shiftKey && !e.altKey) {
      e.preventDefault();
      this.submit();
    } else if (e.key === 'Escape') {
      if (this.props.view.draft.replyTo !== null || this.props.view.draft.editing !== null) this.cancel();
    } else if (e.key === 'ArrowUp' && !e.altKey && !e.target.value && this.props.view.draft.editing === null) {
      this.editLast(e);
    }
  }

  cancel = () => {
    const { editing, before } = this.props.view.draft;
    this.set(editing === null ? { replyTo: null } : { ...emptyDraft(), text: before ?? '' });
    this.field.current?.focus();
  };

  editLast(e) {
    const item = lastToEdit(this.props.view);
    if (!item) return;
    e.preventDefault();
    this.set({ editing: item.seq, replyTo: null, text: item.body.text, before: '' });
  }

  async submit() {
    const { view } = this.props;
    const { draft } = view;
    const text = draft.text.trim();
    const files = draft.editing === null ? view.tray : [];
    if (!text && !files.length || this.left() < 0 || this.saving) return;
    this.setState({ emojis: false, mention: null });
    this.field.current?.focus();
    if (draft.editing === null) {
      this.say(text, emptyTray(view));
    } else {
      this.setState({ busy: true });
      const done = await attempt(edit(view, draft.editing, text));
      this.setState({ busy: false });
      if (done && view.draft === draft) this.set({ ...emptyDraft(), text: draft.before ?? '' }); // otherwise the user has typed on
    }
  }

  /** An edit is being saved, and the draft is still the same. */
  get saving() { return this.state.busy && this.props.view.draft.editing !== null; }

  /**
   * Takes files that are pasted; the room takes those that are dropped. On a server without files it says that they are not sent, and keeps the browser from
   * opening them. @param {any} e
   */
  brought(e) {
    if (!bringsFiles(e) || mayAttach() && e.type !== 'paste') return;
    e.preventDefault();
    if (mayAttach()) this.take([...e.clipboardData.files]);
    else if (e.type !== 'dragover') toast(t('composer.textOnly'));
  }

  closeEmojis = () => {
    this.setState({ emojis: false });
    this.field.current.focus();
  };

  /** The remaining characters, as the server counts them. */
  left() {
    return (state.limits?.text_chars || Infinity) - [...this.props.view.draft.text].length;
  }

  render({ view }, { emojis, mention, recorder }) {
    const until = view.mute?.until ?? 0;
    if (view.room.frozen) return h('p', { class: 'composer muted-here', role: 'status' }, t('composer.frozen'));
    if (until > Date.now()) return h(Muted, { until });
    const { draft } = view;
    const left = this.left();
    const shown = left < (1 - almost) * (state.limits?.text_chars ?? 0);
    const packets = takesPackets(view.room);
    const brought = (e) => this.brought(e);
    const editing = draft.editing !== null;
    const ready = draft.text.trim() || !editing && view.tray.length > 0;
    return h('form', {
      class: 'composer', onSubmit: (e) => { e.preventDefault(); this.submit(); }, onPaste: brought, onDragOver: brought, onDrop: brought,
    },
      h(Banner, { view, draft, onCancel: this.cancel }),
      !editing && h(Tray, { view, done: () => this.field.current?.focus() }),
      mention && h(Suggestions, { ...mention, onPick: (user) => this.suggesting.pick(user) }),
      emojis && h(EmojiPicker, { onPick: (emoji) => this.insert(emoji), onClose: this.closeEmojis }),
      shown && h('p', { class: `left small number ${left < 0 ? 'problem' : 'muted'}`, id: 'composer-left', role: 'status' },
        t(left < 0 ? 'composer.over' : 'composer.left', { count: Math.abs(left), shown: number(Math.abs(left)) })),
      h('div', { class: 'composer-row', onKeyDown: (e) => { if (e.key === 'Escape') recorder?.cancel(); } },
        recorder && h(this.Bar, { recorder, room: view.room.id }),
        !recorder && h(IconButton, {
          icon: 'envelope', label: t(packets ? 'composer.packet' : 'composer.noPackets'), size: 24, class: 'button quiet icon packet-button',
          'aria-disabled': packets ? undefined : 'true', onClick: () => (packets ? openSheet('compose') : toast(t('composer.noPackets'))),
        }),
        !recorder && mayAttach() && !editing && h(AttachButton, { view, done: () => this.field.current?.focus() }),
        !recorder && h('div', { class: 'writing' },
          h('textarea', {
            class: 'input', ref: this.field, rows: 1, value: draft.text, placeholder: t(view.tray.length && !editing ? 'attach.caption' : 'composer.placeholder'),
            'aria-label': t('composer.label'), 'aria-invalid': left < 0, 'aria-describedby': shown ? 'composer-left' : undefined,
            ...this.suggesting.aria(), dir: 'auto', autoComplete: 'off', enterKeyHint: 'send', onInput: (e) => this.input(e),
            onKeyDown: (e) => this.key(e), onClick: () => this.suggesting.look(), onBlur: () => this.suggesting.close(),
          }),
          h(IconButton, {
            icon: 'smile', label: t('composer.emoji'), 'aria-expanded': emojis, onClick: () => this.setState({ emojis: !emojis }),
          })),
        !editing && !ready && mayRecord() && !recorder?.locked ? h(MicButton, { key: 'mic', recorder, begin: this.record })
          : recorder ? h(Submit, { key: 'voice', focused: true, act: () => recorder.send() })
            : h(Submit, { key: 'send', editing, busy: this.saving, disabled: !ready || left < 0 })));
  }
}

/** Sends, or saves an edit: that is shown when the server has it. */
function Submit({ editing, busy, disabled, act, focused }) {
  const label = t(editing ? 'composer.save' : 'composer.send');
  const kind = act ? { type: 'button', onClick: act, ref: focused ? focusOnce : undefined } : { type: 'submit' };
  return h('button', { class: 'button primary icon', 'aria-label': label, 'aria-busy': busy, disabled, ...kind },
    busy ? h('span', { class: 'spinner', 'aria-hidden': 'true' }) : h(Icon, { name: editing ? 'check' : 'send' }));
}

/** The button takes the place of the one that had the focus. @param {HTMLElement|null} button */
function focusOnce(button) { button?.focus({ preventScroll: true }); }

function Muted({ until }) {
  return h('p', { class: 'composer muted-here', role: 'status' }, t('composer.muted', { until: untilTime(until) }));
}
