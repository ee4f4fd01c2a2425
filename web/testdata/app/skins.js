// Skins of a season are offered on its days only, and drawn always. Those of the host are drawn from its files.

import { state } from '/app/state.js';
import { offeredSkins, skinned } from '/app/model/skins.js';
import { equal, ok } from '../check.js';

const usual = ['', 'cloud', 'koi', 'plum'];
const on = (date) => offeredSkins(new Date(`${date}T12:00`)).filter((skin) => !usual.includes(skin));

export async function seasons() {
  for (const [date, skins] of [
    ['2026-02-01', []], ['2026-02-03', ['lantern']], ['2026-02-17', ['lantern']], ['2026-03-03', ['lantern']], ['2026-03-04', []],
    ['2026-09-10', []], ['2026-09-11', ['moon']], ['2026-09-25', ['moon']], ['2026-09-27', []],
    ['2025-07-26', []], ['2027-02-06', ['lantern']],
  ]) equal([date, on(date)], [date, skins]);
  equal(skinned('moon', 'envelope').class, 'envelope skin-moon');
}

export async function ofTheHost() {
  state.page = { skins: [{ name: 'red-dragon', url: 'skins/1.svg' }] };
  ok(offeredSkins(new Date()).includes('red-dragon'), 'it is offered');
  equal(skinned('red-dragon', 'envelope'), { class: 'envelope skin-host', style: { '--skin': `url("${new URL('skins/1.svg', location.href)}")` } });
  state.page = null;
  equal([skinned('red-dragon', 'envelope'), skinned(undefined, 'envelope')], [{ class: 'envelope' }, { class: 'envelope' }]);
}
