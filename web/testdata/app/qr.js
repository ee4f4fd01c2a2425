// QR codes, compared with those of the package qrcode of npm (1.5.4): by a digest of their modules, and one in full.

import { qrCode } from '/app/qr.js';
import { sha256 } from '/sdk/sha256.js';
import { equal, failure } from '/test/check.js';

/** A text that fills a version. */
const long = (version, length) => `${version}: ${'7Zb-é'.repeat(60)}`.slice(0, length);

/** [text, mask, the mask with the lowest penalty, version, SHA-256 of the rows], with the longest text of each version. */
const vectors = [
  ['a', 0, 5, 1, 'ad65f877bf9411d14b0b2efbc0ca7dfffd44b86e4c5f662689ac17016c5d1b0e'],
  ['hongbao', 1, 2, 1, 'd3a9a2e5ab328f573ad71d7cbc01a1815e6fe14a7826271e6b43360f3aeb31ea'],
  ['包包包包包包', 2, 2, 2, '6236915ec34e82e9ca391c1451518eeed74240d9dcef645dd6b2c9abd52a5d78'],
  ['http://127.0.0.1:8080/#/link/019ab3c4-5d6e-7f80-9a1b-2c3d4e5f6071.Zp3kQ0aB9cD2eF4gH6iJ', 3, 2, 6, 'aa9849ac08ed45b732905f5c409e68667016fa55d09383a4588f49820ebf5abb'],
  [long(0, 12), 4, 2, 1, '839bbe449222e3438b519df38eb48414c2c1ccbba4b23f7951df722827a17bfb'],
  [long(1, 22), 5, 6, 2, '326fa190a766fd71d45410fd5a415935a7511dc5d29a4898c9f47ce16f8908c9'],
  [long(2, 36), 6, 4, 3, '040e197cb741ecebedb7586e71d7991624360f2ced664e249db4fe3e6efb4a63'],
  [long(3, 52), 7, 2, 4, '0db195ab4ec6e238e6cfbd51fb1fb9f68e47ca05ae24b35ec8502084ca9e4352'],
  [long(4, 71), 0, 2, 5, 'e44e2045e37dc2ac0e75eea1351ef66337bb372f8afec87811ab7811cb6f1602'],
  [long(5, 89), 1, 4, 6, 'aaf80519c16aed40f19d034375bd893d21b2eaecfa2abc3db4e5bcd7c20431e2'],
  [long(6, 102), 2, 5, 7, '508656273dbb032721b8276ce5c81df5df1acc4e266670eac1fab055db9d3771'],
  [long(7, 127), 3, 3, 8, '1efa5b31d69e5bd53371c452026954c6dbfffc8b6364c6e12d6763a2ba1cfa33'],
  [long(8, 151), 4, 2, 9, 'b2bc96471d1ae028a6a4eb3996ddf79e657e7702fb665d6ff9bc31bb8b830878'],
  [long(9, 178), 5, 5, 10, '4b76b8eb2ace1c10f5367abfb189543997cc12cfb12f307de84f369756764c71'],
];

const hongbao = `
111111101000001111111
100000100100001000001
101110101001001011101
101110100110001011101
101110100111101011101
100000101111101000001
111111101010101111111
000000000010100000000
101000110000000100101
001100010001011001101
001100101111110110001
101101001101011111000
111101111001111001010
000000001000000011101
111111101100001011001
100000100100100101011
101110100000001111001
101110100111011011000
101110101001110010011
100000100011011011000
111111101001111111001
`;

const written = (rows) => rows.map((row) => row.join('')).join('\n');
const digest = (text) => [...sha256(new TextEncoder().encode(text))].map((b) => b.toString(16).padStart(2, '0')).join('');

export async function drawsKnownCodes() {
  for (const [text, mask, best, version, sum] of vectors) {
    const rows = qrCode(text, mask);
    equal([rows.length, digest(written(rows))], [17 + 4 * version, sum], text);
    equal(written(qrCode(text)), written(qrCode(text, best)), `mask of ${text}`);
  }
  equal(written(qrCode('hongbao', 1)), hongbao.trim());
}

export async function refusesLongTexts() {
  equal(qrCode('x'.repeat(213)).length, 57);
  const error = await failure((async () => qrCode('x'.repeat(214)))());
  equal(error.message, '214 bytes are too many for a QR code');
}
