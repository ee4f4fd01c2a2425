// A view whose code is loaded when it is shown for the first time, with the styles of sheets.
import { h, Component } from '../dom.js';
import { Failed, Loading } from './parts.js';
import { styleSheets } from './sheets.js';

/** Props: load, which imports the view; and the view's own. */
export class Later extends Component {
  state = { /** @type {any} */ view: null, /** @type {unknown} */ error: null };

  componentDidMount() { this.load(); }

  async load() {
    this.setState({ error: null });
    try {
      const [view] = await Promise.all([this.props.load(), styleSheets()]);
      if (!this.gone) this.setState({ view });
    } catch (error) {
      if (!this.gone) this.setState({ error });
    }
  }

  componentWillUnmount() { this.gone = true; }

  render({ load: _, ...props }, { view, error }) {
    if (error) return h(Failed, { error, again: () => this.load() });
    return view ? h(view, props) : h(Loading, null);
  }
}
