// The drawings on envelopes.

/** The plain envelope first. @type {('' | import('../../sdk/types.js').Skin)[]} */
export const skins = ['', 'cloud', 'koi', 'plum'];

/** The style of an envelope; a skin that is unknown here looks plain. @param {string|undefined} skin */
export function skinClass(skin) { return skin && /** @type {string[]} */ (skins).includes(skin) ? `skin-${skin}` : ''; }
