// The choice of the drawing on the envelope, and the envelope as it will stand in the room.
import { h } from '../dom.js';
import { t } from '../words.js';
import { state } from '../state.js';
import { number } from '../format.js';
import { isOwnSkin, offeredSkins, skinned } from '../model/skins.js';
import { EnvelopeFace } from './envelope.js';
import { audience } from './envelope-words.js';

export function Skins({ skin, fill }) {
  return h('fieldset', { class: 'skins' },
    h('legend', { class: 'field-label' }, t('compose.skin')),
    offeredSkins(new Date()).map((name) => h('label', { key: name },
      h('input', { class: 'only-read', type: 'radio', name: 'skin', value: name, checked: name === skin, onChange: () => fill({ skin: name }) }),
      h('span', { ...skinned(name, 'skin-card'), 'aria-hidden': 'true' }),
      h('span', { class: 'small' }, nameOfSkin(name)))));
}

/** Those of the host are called as its files. @param {string} skin */
function nameOfSkin(skin) { return isOwnSkin(skin) ? t(`compose.skins.${skin || 'plain'}`) : skin.replaceAll('-', ' '); }

/** @param {{form: import('../model/compose.js').Form, packet: any}} props  packet as it would be sent, with what is known so far */
export function Preview({ form, packet }) {
  const { count = 0, mode } = packet;
  const shares = count > 0 ? t('envelope.shares', { count, shown: number(count) }) : '';
  const how = packet.waves ? t('rain.rain') : packet.window_s ? t('draw.draw') : count === 1 ? '' : t(`envelope.${mode}`);
  const words = [how, shares].filter(Boolean).join(' · ');
  return h('figure', { class: 'compose-preview' },
    h('figcaption', { class: 'field-label' }, t('compose.preview')),
    h('div', { ...skinned(form.skin, 'envelope'), 'data-status': 'open' },
      h(EnvelopeFace, { greeting: packet.greeting, standing: words, audience: audience({ ...packet, from: state.me }), locked: Boolean(packet.passphrase), draw: packet.window_s ? packet : undefined })));
}
