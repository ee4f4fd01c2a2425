// The form of a red packet. Three fields come first; the others are folded and have defaults.
import { h, Component, createRef } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { duration, money, number, playMoney } from '../format.js';
import { check, emptyForm, packetOf } from '../model/compose.js';
import { sendPacket } from '../actions/packets.js';
import { closeSheet } from '../route.js';
import { Field } from './compose-field.js';
import { More } from './compose-more.js';

/**
 * The form is kept when the sheet is closed.
 * @type {WeakMap<import('../state.js').RoomView, import('../model/compose.js').Form>}
 */
const drafts = new WeakMap();

export class Compose extends Component {
  state = { asked: false };
  /** @type {{current: any}} */ form = createRef();

  componentDidMount() { this.focus('total'); }

  fill = (values) => {
    const { view } = this.props;
    drafts.set(view, { ...(drafts.get(view) ?? emptyForm(view)), ...values });
    this.forceUpdate();
  };

  send = (e) => {
    e.preventDefault();
    const { view } = this.props;
    const form = drafts.get(view) ?? emptyForm(view);
    const checked = check(form);
    const wrong = checked.missing ?? Object.keys(checked.problems).find((name) => checked.problems[name]);
    if (wrong) {
      this.setState({ asked: true }, () => this.focus(wrong));
      return;
    }
    drafts.delete(view);
    closeSheet();
    sendPacket(view.room.id, packetOf(form, checked, t('compose.usualGreeting')));
  };

  focus(name) {
    const field = this.form.current?.elements[name];
    const folded = field?.closest('details');
    if (folded) folded.open = true;
    field?.focus();
  }

  render({ view }, { asked }) {
    const form = drafts.get(view) ?? emptyForm(view);
    const checked = check(form);
    const problem = (name) => words(checked.problems[name]) || (asked && checked.missing === name ? t(`compose.missing.${name}`) : '');
    const { limits } = state;
    const ready = checked.total !== null && !checked.problems.total;
    return h('form', { class: 'compose stack', ref: this.form, onSubmit: this.send, noValidate: true, autocomplete: 'off' },
      h(Field, {
        name: 'total', label: t('compose.total'), value: form.total, problem: problem('total'), inputMode: 'decimal', autofocus: true,
        placeholder: t('compose.totalExample'),
        hint: t('compose.balance', { balance: playMoney(state.account.balance), most: limits?.packet_total ? money(limits.packet_total) : '' }),
        onValue: (total) => this.fill({ total }),
      }),
      h(Field, {
        name: 'count', label: t('compose.count'), value: form.count, problem: problem('count'), inputMode: 'numeric',
        placeholder: form.chosen && form.to.length ? number(form.to.length) : '5', hint: countHint(view, form, checked),
        onValue: (count) => this.fill({ count }),
      }),
      h(Field, {
        name: 'greeting', label: t('compose.greeting'), value: form.greeting, problem: problem('greeting'),
        placeholder: t('compose.usualGreeting'),
        hint: left(form.greeting, limits?.greeting_chars), onValue: (greeting) => this.fill({ greeting }),
      }),
      h('details', { class: 'compose-more' },
        h('summary', null, h('span', null, t('compose.more')), h('span', { class: 'muted small cut' }, chosen(form))),
        h(More, { view, form, checked, problem, fill: this.fill })),
      h('div', { class: 'compose-foot' },
        h('button', { class: 'button primary wide', type: 'submit' },
          ready ? t('compose.sendAmount', { amount: money(checked.total) }) : t('compose.send'))));
  }
}

/** @param {import('../model/compose.js').Problem|undefined} problem */
function words(problem) {
  if (!problem) return '';
  const { word, value = 0 } = problem;
  return t(`compose.wrong.${word}`, { count: value, shown: number(value), amount: money(value) });
}

function countHint(view, form, { total, count, problems }) {
  if (form.mode === 'equal' && total && count && !problems.total && !problems.count) {
    return t(total % count ? 'compose.eachAbout' : 'compose.each', { amount: money(Math.floor(total / count)) });
  }
  const most = state.limits?.packet_count;
  return t('compose.here', { count: view.room.members, shown: number(view.room.members), most: most ? number(most) : '' });
}

function left(text, most) {
  const n = most ? most - [...text.trim()].length : Infinity;
  return n <= 20 ? t('compose.charsLeft', { count: Math.max(0, n) }) : '';
}

/** A summary of the folded fields. */
function chosen(form) {
  return [
    form.mode === 'lucky' ? t(`compose.${form.spread}`) : t('compose.equal'),
    form.chosen ? t('compose.forSome', { count: form.to.length }) : t(form.earlier ? 'compose.forEarlier' : 'compose.everyone'),
    form.passphrase && t('compose.passphrase'),
    duration(form.ttl * 1000),
  ].filter(Boolean).join(' · ');
}
