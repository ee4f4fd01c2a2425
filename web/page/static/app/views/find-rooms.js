// The sheet that searches public rooms while the user types. The id of the sheet is the initial search.
import { h, Component, createRef } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { PublicRooms } from './public-rooms.js';

export class FindRooms extends Component {
  state = { query: this.props.id ?? '' };

  input = createRef();

  componentDidMount() { this.input.current.focus(); }

  render(_, { query }) {
    return h('div', { class: 'stack tall' },
      h('input', {
        class: 'input', type: 'text', inputmode: 'search', ref: this.input, value: query, maxLength: state.limits?.name_chars,
        placeholder: t('find.name'), 'aria-label': t('find.name'), autocomplete: 'off', enterkeyhint: 'search',
        onInput: (e) => this.setState({ query: e.target.value }),
      }),
      h(PublicRooms, { query, none: t(query.trim() ? 'find.none' : 'rooms.noPublic', { query: query.trim() }) }));
  }
}
