// The search for emojis.

import { emojisFor, groupsOf } from '/app/model/emojis.js';
import { equal } from '../check.js';

const english = groupsOf('# food\n🍵 teacup without handle, beverage, drink, oolong, tea\n🥖 baguette bread, french\n# symbols\n❤️ red heart, love\n☕ hot beverage, coffee, steaming, tea\n');
const chinese = groupsOf('# objects\n🧧 红包, 利是, 好运\n💰 钱袋, 财富\n');

export async function groups() {
  equal(english.map((g) => `${g.name} ${g.emojis.length}`), ['food 2', 'symbols 2']);
  equal(groupsOf(''), []);
}

export async function finds() {
  equal(emojisFor(english, 'tea'), ['🍵', '☕']);
  equal(emojisFor(english, ' TEAcup '), ['🍵']);
  equal(emojisFor(english, 'hot bev'), ['☕']);
  equal(emojisFor(english, 'beverage'), ['☕', '🍵']); // the one that is called so comes first
  equal(emojisFor(english, 'art'), []); // not within a word
  equal(emojisFor(english, '❤️'), ['❤️']);
  equal(emojisFor(english, '  '), []);
  equal(emojisFor(chinese, '包'), ['🧧']);
  equal(emojisFor(chinese, '财'), ['💰']);
}
