// Starts the page.
//
// Data goes one way: the client's events -> model -> views -> actions -> client. So the modules lie in layers. A module imports modules of its own layer and of those that
// the layer's line names, and no modules import each other in a circle: TestPageLayers.
//
//   tools: dom, host, identity, matching, motion, qr, storage, ../sdk/, ../vendor/
//   client: client; imports tools
//   model: state, model/, format, route, sound-choice, theme, words, words/; imports tools
//   actions: actions/, notifications, offline, push, sound; imports tools, client, model
//   session: events, session; imports tools, client, model, actions
//   views: views/, title; imports tools, model, actions, session
//   main: main; imports tools, model, actions, session, views
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
