// The button to the search in the open room. Ctrl+F, or Cmd+F on a Mac, does the same.
import { h, Component } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { openSheet } from '../route.js';
import { nameOf } from '../model/rooms.js';
import { IconButton } from './parts.js';
import { isCommand } from './shortcuts.js';

const sheet = 'search-room';

export class ToSearch extends Component {
  componentDidMount() { addEventListener('keydown', this.pressed); }

  componentWillUnmount() { removeEventListener('keydown', this.pressed); }

  /** Pressed again in the field, or over a dialog, it is the browser's own search. @param {KeyboardEvent} e */
  pressed = (e) => {
    if (e.key.toLowerCase() !== 'f' || !isCommand(e) || e.defaultPrevented || document.querySelector('dialog[open]')) return;
    if (state.route.sheet?.name !== sheet) openSheet(sheet);
    else if (!focusField()) return;
    e.preventDefault();
  };

  render({ view }) {
    return h(IconButton, { icon: 'search', label: t('search.in', { room: nameOf(view) }), onClick: () => openSheet(sheet) });
  }
}

/** Reports whether the focus has moved to the field of the search. */
function focusField() {
  const field = /** @type {HTMLInputElement|null} */ (document.querySelector('.search-field input'));
  if (!field || field === document.activeElement) return false;
  field.focus();
  field.select();
  return true;
}
