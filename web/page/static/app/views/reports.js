// The sheet with what the user has reported, and with what was decided about the user. A decision against the user can be appealed once.
import { h, Component } from '../dom.js';
import { state } from '../state.js';
import { inWords, t } from '../words.js';
import { ago } from '../format.js';
import { appeal, moreReports, ownReports } from '../actions/reports.js';
import { Failed, Loading, Time } from './parts.js';
import { Icon } from './icon.js';

const maxText = 500; // characters, as the server counts them

export class Reports extends Component {
  state = { error: null };

  componentDidMount() { this.read(); }

  componentWillUnmount() { this.gone = true; }

  async read() {
    this.setState({ error: null });
    try {
      await ownReports();
    } catch (error) {
      if (!this.gone) this.setState({ error });
    }
  }

  render(_, { error }) {
    if (error) return h(Failed, { error, again: () => this.read() });
    if (!state.reports) return h(Loading, null);
    const { reported, reporter } = state.reports;
    return h('div', { class: 'stack' },
      !reported.items.length && !reporter.items.length && h('p', { class: 'muted' }, t('reports.none')),
      h(List, { title: t('reports.aboutMe'), side: 'reported', page: reported }),
      h(List, { title: t('reports.mine'), side: 'reporter', page: reporter }));
  }
}

function List({ title, side, page }) {
  return page.items.length > 0 && h('section', { class: 'stack', 'aria-label': title },
    h('h3', null, title),
    h('ul', { class: 'panel-list' }, page.items.map((r) => h('li', { key: r.report }, h(Row, { report: r })))),
    page.next && h('button', { class: 'button wide', type: 'button', onClick: () => moreReports(side) }, t('reports.more')));
}

function Row({ report: r }) {
  return h('div', { class: 'stack report-row' },
    h('p', { class: 'row' }, h('strong', { class: 'grow' }, t(`reports.what.${r.side}.${r.kind}`)), h('span', { class: 'muted small' }, h(Time, { at: r.at }, ago(r.at)))),
    r.reason && h('p', { class: 'muted small' }, t(`report.reasons.${r.reason}`)),
    h('p', null, said(r)),
    r.appeal && h('p', { class: 'muted' }, t('reports.yourAppeal', { text: r.appeal })),
    r.may_appeal && h(Appeal, { report: r }));
}

/** What has become of a report. */
function said(r) {
  if (r.state === 'open') return t('reports.open');
  if (r.state === 'appealed') return t('reports.appealed');
  return t(`reports.outcome.${r.outcome}`, { cause: t(`reports.cause.${r.cause}`) });
}

class Appeal extends Component {
  state = { asked: false, busy: false, text: '', error: null };

  async send(e) {
    e.preventDefault();
    const text = this.state.text.trim();
    if (!text || this.state.busy) return;
    this.setState({ busy: true, error: null });
    try {
      await appeal(this.props.report.report, text); // the row is drawn anew without this form
    } catch (error) {
      this.setState({ busy: false, error });
    }
  }

  render(_, { asked, busy, text, error }) {
    if (!asked) return h('button', { class: 'act-button', type: 'button', onClick: () => this.setState({ asked: true }) }, h(Icon, { name: 'reply', size: 20 }), h('span', { class: 'grow' }, t('reports.appeal')));
    return h('form', { class: 'act-question', 'aria-label': t('reports.appeal'), onSubmit: (e) => this.send(e) },
      h('label', { class: 'field' }, h('span', null, t('reports.appealWhy')),
        h('textarea', { class: 'input', rows: 3, maxLength: maxText, value: text, onInput: (e) => this.setState({ text: e.target.value }) })),
      h('p', { class: 'muted small' }, t('reports.appealOnce')),
      error && h('p', { class: 'problem', role: 'alert' }, inWords(error)),
      h('div', { class: 'row' },
        h('button', { class: 'button grow', type: 'button', onClick: () => this.setState({ asked: false }) }, t('cancel')),
        h('button', { class: 'button primary grow', type: 'submit', disabled: !text.trim() || busy, 'aria-busy': busy }, t('reports.appealSend'))));
  }
}
