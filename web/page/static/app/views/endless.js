// The end of a list that is read page by page: more is loaded before the user gets there. The scroll position is kept
// while another sheet is open.
import { h, Component, createRef } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { isBarren } from '../model/pages.js';
import { Failed, Loading } from './parts.js';

const ahead = '400px';

/** Props: the pages, the functions that load the first page and more, and whether the scroll position is kept when the sheet is closed. */
export class Endless extends Component {
  end = createRef();

  scroll = 0;
  note = () => { this.scroll = this.box.scrollTop; }; // a sheet that is being closed reports 0

  componentDidMount() {
    this.box = /** @type {any} */ (this.end.current).closest('.sheet-body');
    this.watch = new IntersectionObserver(([e]) => { if (e.isIntersecting) this.more(); }, { root: this.box, rootMargin: ahead });
    this.watch.observe(this.end.current);
    this.box.addEventListener('scroll', this.note, { passive: true });
    const { scroll } = this.props.pages;
    if (scroll) requestAnimationFrame(() => { this.box.scrollTop = scroll; });
  }

  /** After each load, checks whether the end is still near. */
  componentDidUpdate() {
    const { items } = this.props.pages;
    if (this.items === items) return;
    this.items = items;
    this.watch.unobserve(this.end.current);
    this.watch.observe(this.end.current);
  }

  componentWillUnmount() {
    this.watch.disconnect();
    this.box.removeEventListener('scroll', this.note);
    const { pages, keeps } = this.props;
    pages.scroll = keeps || state.route.sheet ? this.scroll : 0; // else the next time it starts at the top
  }

  more() {
    const { pages, more } = this.props;
    if (pages.loaded && !pages.complete && !pages.loading && !pages.error && !isBarren(pages)) more();
  }

  further = () => {
    this.props.pages.barren = 0;
    this.props.more();
  };

  render({ pages, first, more }) {
    return h('div', { class: 'endless', ref: this.end },
      pages.loading && !(pages.loaded && pages.complete) ? h(Loading, null)
        : pages.error ? h(Failed, { error: pages.error, again: pages.loaded && !pages.complete ? more : first })
          : isBarren(pages) ? h('div', { class: 'empty' }, h('button', { class: 'button', type: 'button', onClick: this.further }, t('further'))) : null);
  }
}
