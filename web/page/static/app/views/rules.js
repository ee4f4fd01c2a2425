// The rules of a room, and the texts that wait, for its owner and admins.
import { h, Component } from '../dom.js';
import { inWords, t } from '../words.js';
import { ago, number } from '../format.js';
import { doings, fileDays, formOf, otherRules, rulesOf, times } from '../model/order.js';
import { answerHeld, readHeld, readRules, saveRules, tryRules } from '../actions/order.js';
import { Choice } from './choice.js';
import { Avatar, Failed, Loading, Time } from './parts.js';

export function Rules({ view }) {
  return h('div', { class: 'stack' }, h(HeldTexts, { view, key: `held ${view.room.id}` }), h(RulesForm, { view, key: `rules ${view.room.id}` }));
}

class HeldTexts extends Component {
  state = { texts: /** @type {any[]} */ ([]), busy: '', error: null };

  componentDidMount() { this.read(); }

  componentWillUnmount() { this.gone = true; }

  async read() {
    try {
      const texts = await readHeld(this.props.view);
      if (!this.gone) this.setState({ texts });
    } catch (error) {
      if (!this.gone) this.setState({ error });
    }
  }

  /** @param {string} id @param {boolean} admit */
  async answer(id, admit) {
    if (this.state.busy) return;
    this.setState({ busy: id, error: null });
    let error = null;
    try {
      await answerHeld(this.props.view, id, admit);
    } catch (e) {
      error = e;
    }
    if (this.gone) return;
    this.setState({ busy: '', error });
    this.read();
  }

  render(_, { texts, busy, error }) {
    if (!texts.length && !error) return null;
    return h('section', { class: 'stack', 'aria-label': t('rules.held') },
      h('h3', null, t('rules.held')),
      error && h('p', { class: 'problem', role: 'alert' }, inWords(error)),
      h('ul', { class: 'panel-list' }, texts.map((held) => h('li', { key: held.id }, h('div', { class: 'stack report-row' },
        h('p', { class: 'row' }, h(Avatar, { user: held.from }), h('strong', { class: 'cut grow', dir: 'auto' }, held.from.name || held.from.id),
          h('span', { class: 'muted small' }, h(Time, { at: held.at }, ago(held.at)))),
        held.text && h('p', { dir: 'auto' }, held.text),
        h('p', { class: 'muted small' }, t(`rules.kinds.${held.rule}`), held.files?.length > 0 && ` · ${t('attach.tray', { count: held.files.length, shown: number(held.files.length) })}`),
        h('div', { class: 'row' },
          h('button', { class: 'button grow', type: 'button', disabled: !!busy, onClick: () => this.answer(held.id, false) }, t('rules.drop')),
          h('button', { class: 'button primary grow', type: 'button', disabled: !!busy, onClick: () => this.answer(held.id, true) }, t('rules.admit'))))))));
  }
}

class RulesForm extends Component {
  state = { rules: /** @type {any[]|null} */ (null), form: /** @type {any} */ (null), busy: false, saved: false, tried: /** @type {any} */ (null), error: null, failed: null };

  componentDidMount() { this.read(); }

  componentWillUnmount() { this.gone = true; }

  async read() {
    this.setState({ failed: null });
    try {
      const rules = await readRules(this.props.view);
      if (!this.gone) this.setState({ rules, form: formOf(rules) });
    } catch (failed) {
      if (!this.gone) this.setState({ failed });
    }
  }

  set = (to) => this.setState({ form: { ...this.state.form, ...to }, saved: false, tried: null, error: null });

  /** Saves the rules, or tries them. @param {boolean} isTrial */
  async send(isTrial) {
    const { form, rules, busy } = this.state;
    if (busy) return;
    const made = rulesOf(form, rules ?? []);
    this.setState({ busy: true, saved: false, tried: null, error: null });
    try {
      const tried = isTrial ? await tryRules(this.props.view, made) : null;
      if (!isTrial) await saveRules(this.props.view, made);
      if (!this.gone) this.setState({ busy: false, tried, saved: !isTrial, ...(!isTrial && { rules: made }) });
    } catch (error) {
      if (!this.gone) this.setState({ busy: false, error });
    }
  }

  render(_, { rules, form, busy, saved, tried, error, failed }) {
    if (failed) return h(Failed, { error: failed, again: () => this.read() });
    if (!form) return h(Loading, null);
    const others = otherRules(rules).length;
    return h('form', { class: 'stack', 'aria-label': t('rules.title'), onSubmit: (e) => { e.preventDefault(); this.send(false); } },
      h('p', { class: 'muted small' }, t('rules.who')),
      this.text('words', t('rules.words'), 4),
      form.words.trim() && this.doing('wordsDo'),
      form.words.trim() && this.text('say', t('rules.say'), 1),
      this.choice('links', t('rules.links'), ['all', 'some', 'none'].map((value) => ({ value, label: t(`rules.linksTo.${value}`) }))),
      form.links === 'some' && this.text('hosts', t('rules.hosts'), 2),
      form.links !== 'all' && this.doing('linksDo'),
      ['slow', 'wait', 'repeat'].map((kind) => this.pick(kind, t(`rules.kinds.${kind}`), times[kind], (n) => t('rules.time', span(n)))),
      this.pick('files', t('rules.kinds.files'), fileDays, (n) => t('rules.time', { days: n, hours: 0, minutes: 0, seconds: 0 })),
      others > 0 && h('p', { class: 'muted small' }, t('rules.others', { count: others, shown: number(others) })),
      error && h('p', { class: 'problem', role: 'alert' }, /** @type {any} */ (error).fields?.field === 'rules' ? t('rules.wrong') : inWords(error)),
      tried && h('p', { role: 'status' }, t('rules.tried', { count: tried.met, met: number(tried.met), of: number(tried.tried) })),
      saved && h('p', { role: 'status' }, t('rules.saved')),
      h('div', { class: 'row' },
        h('button', { class: 'button grow', type: 'button', disabled: busy, onClick: (e) => e.target.form.reportValidity() && this.send(true) }, t('rules.try')),
        h('button', { class: 'button primary grow', type: 'submit', disabled: busy, 'aria-busy': busy }, t('rules.save'))));
  }

  text(name, label, rows) {
    return h('label', { class: 'field' }, h('span', null, label),
      h(rows > 1 ? 'textarea' : 'input', { class: 'input', ...(rows > 1 && { rows }), required: name === 'hosts', value: this.state.form[name], autoComplete: 'off', onInput: (e) => this.set({ [name]: e.target.value }) }));
  }

  choice(name, label, options) { return h(Choice, { label, name, value: this.state.form[name], options, choose: (value) => this.set({ [name]: value }) }); }

  doing(name) { return this.choice(name, t('rules.then'), doings.map((value) => ({ value, label: t(`rules.do.${value}`) }))); }

  /** A choice of numbers. One that a program has set is offered, too. */
  pick(name, label, offered, inWord) {
    const value = this.state.form[name];
    const all = offered.includes(value) ? offered : [...offered, value];
    return h('label', { class: 'field', key: name }, h('span', null, label),
      h('select', { class: 'input', value, onChange: (e) => this.set({ [name]: Number(e.target.value) }) }, all.map((n) => h('option', { key: n, value: n, selected: n === value }, n === 0 ? t('rules.off') : inWord(n)))));
  }
}

/** A number of seconds in its largest whole unit. */
function span(seconds) {
  const unit = [['days', 86_400], ['hours', 3600], ['minutes', 60]].find(([, of]) => seconds % Number(of) === 0) ?? ['seconds', 1];
  return { days: 0, hours: 0, minutes: 0, seconds: 0, [unit[0]]: seconds / Number(unit[1]) };
}
