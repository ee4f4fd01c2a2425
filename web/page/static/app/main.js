// Starts the page.
import { h, render } from './dom.js';
import { state, change, drawWith } from './state.js';
import { followAddress } from './route.js';
import { chooseLanguage } from './words.js';
import { chooseTheme } from './theme.js';
import { chooseSound } from './sound-choice.js';
import { chooseNotifications } from './notifications.js';
import { followNetwork } from './model/link.js';
import { showTitle } from './title.js';
import { startSession } from './session.js';
import { App } from './views/app.js';

const root = /** @type {HTMLElement} */ (document.getElementById('app'));
drawWith(() => {
  render(h(App, null), root);
  showTitle();
});

await chooseLanguage();
chooseTheme();
chooseSound();
chooseNotifications();
followNetwork();
const wide = matchMedia('(min-width: 900px)');
wide.addEventListener('change', () => change(() => { state.wide = wide.matches; }));
state.wide = wide.matches;
followAddress();
change();
startSession();
