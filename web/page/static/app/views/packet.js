// A packet's sheet: the envelope to be opened, or the claims.
import { h, Component } from '../dom.js';
import { state } from '../state.js';
import { stageOf } from '../model/packets.js';
import { findPacket } from '../actions/packets.js';
import { Failed, Loading } from './parts.js';
import { Opening } from './opening.js';
import { Details } from './packet-details.js';

export class PacketSheet extends Component {
  state = { error: null };

  componentDidMount() { this.find(); }

  find = async () => {
    if (state.packets.has(this.props.id)) return;
    this.setState({ error: null });
    this.setState({ error: await findPacket(this.props.id) });
  };

  render({ id }, { error }) {
    const view = state.packets.get(id);
    if (!view) return error ? h(Failed, { error, again: this.find }) : h(Loading, null);
    return stageOf(view) === 'envelope' ? h(Opening, { view }) : h(Details, { view });
  }
}
