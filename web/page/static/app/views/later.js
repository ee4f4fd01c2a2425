// A view whose code is loaded when it is shown for the first time, with the styles of sheets.
import { h, Component } from '../dom.js';
import { Loading } from './parts.js';
import { styleSheets } from './sheets.js';

/** Props: load, which imports the view; and the view's own. */
export class Later extends Component {
  state = { /** @type {any} */ view: null };

  async componentDidMount() {
    try {
      const [view] = await Promise.all([this.props.load(), styleSheets()]);
      if (!this.gone) this.setState({ view });
    } catch { /* there is no connection: what the view shows can be reached by a sheet, too */ }
  }

  componentWillUnmount() { this.gone = true; }

  render({ load: _, ...props }, { view }) { return view ? h(view, props) : h(Loading, null); }
}
