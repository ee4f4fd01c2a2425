// Draws, receipts and proof files, by the vectors that the server's own tests read.

import { included, inclusionOf, leafOf, orderOf, rootOf, verifyReceipt } from '/sdk/draw.js';
import { receiptInProof, verifyProof } from '/sdk/index.js';
import { equal, failure, ok } from './check.js';

const get = async (path) => (await fetch(path)).json();
const flipped = (hex, at) => hex.slice(0, at) + (parseInt(hex[at], 16) ^ 1).toString(16) + hex.slice(at + 1);

export async function vectors() {
  const all = await get('/draw.json');
  ok(all.length >= 8, `${all.length} vectors`);
  for (const [i, v] of all.entries()) {
    const users = new Map(v.entries.map((e) => [e.leaf, e.user]));
    for (const e of v.entries) equal(leafOf(v.sender, v.key, v.wave, e.user), e.leaf, `leaf of ${e.user}`);
    const leaves = v.entries.map((e) => e.leaf);
    equal(rootOf(leaves), v.root, `root ${i}`);
    const order = orderOf(v.seed, v.sender, v.key, v.wave, leaves).map((leaf) => users.get(leaf));
    equal(order, v.order, `order ${i}`);
    equal(order.slice(0, v.count), v.winners, `winners ${i}`);
    equal(inclusionOf(leaves, v.inclusion.index), v.inclusion.path, `path ${i}`);
    equal(users.get([...leaves].sort()[v.inclusion.index]), v.inclusion.user, `user ${i}`);
  }
}

/** Each leaf of small trees is included, and nothing else is by the same path. */
export async function inclusion() {
  for (let n = 1; n <= 20; n++) {
    const leaves = Array.from({ length: n }, (_, i) => leafOf('u', 'k', 0, `u-${i}`)).sort();
    const root = rootOf(leaves);
    leaves.forEach((leaf, i) => {
      const path = inclusionOf(leaves, i);
      ok(included(leaf, i, n, path, root), `leaf ${i} of ${n}`);
      const no = (what, ...proof) => ok(!included(...proof), `leaf ${i} of ${n} with ${what}`);
      no('another leaf', flipped(leaf, i), i, n, path, root);
      no('another root', leaf, i, n, path, flipped(root, i));
      no('a longer path', leaf, i, n, [...path, root], root);
      path.forEach((node, k) => {
        no(`another node ${k}`, leaf, i, n, path.with(k, flipped(node, i)), root);
        no(`no node ${k}`, leaf, i, n, path.toSpliced(k, 1), root);
      });
      for (let k = -1; k <= n; k++) if (k !== i) no(`index ${k}`, leaf, k, n, path, root);
    });
  }
  equal(rootOf([]), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
}

export async function proofs() {
  const { proofs: all } = await get('/proofs.json');
  ok(all.length >= 50, `${all.length} proofs`);
  for (const { name, wrong, document } of all) {
    const findings = verifyProof(document);
    equal(findings.find((f) => !f.holds)?.what ?? '', wrong, name);
    ok(findings.every((f) => f.holds || f.text), `${name}: ${JSON.stringify(findings)}`);
  }
  for (const odd of [null, 7, [], {}, { ...all[0].document, waves: [{ wave: 0 }] }, { ...all[0].document, waves: [null] }, { ...all[0].document, waves: 7 }]) {
    ok(verifyProof(odd).some((f) => !f.holds), JSON.stringify(odd));
  }
}

export async function receipts() {
  const { proofs: all, receipts: cases } = await get('/proofs.json');
  ok(cases.length >= 8, `${cases.length} receipts`);
  for (const c of cases) {
    equal(await verifyReceipt(c.public, c.receipt), c.signed ? 'good' : 'bad', c.name);
    const { document } = all.find((p) => p.name === c.proof);
    equal(receiptInProof(document, c.receipt), c.leaf, c.name);
  }
  const [{ public: key, receipt }] = cases;
  for (const [field, value] of [['user', 'u-9'], ['wave', 3], ['leaf', undefined], ['signature', 'xy'], ['at', 'now']]) {
    equal(await verifyReceipt(key, { ...receipt, [field]: value }), 'bad', field);
  }
  equal(await verifyReceipt('00', receipt), 'bad', 'a short key');
  const { document } = all[0];
  for (const [field, value] of [['user', 'u-9'], ['user', undefined], ['leaf', undefined]]) {
    equal(receiptInProof(document, { ...receipt, [field]: value }), 'wrong', field);
  }
  equal(await verifyReceipt(key, null), 'bad', 'nothing');
}

/** A page that is not secure has no crypto.subtle: it says that it cannot check signatures, and checks the rest. */
export async function insecurePages() {
  Object.defineProperty(crypto, 'subtle', { value: undefined, configurable: true });
  try {
    const { proofs: [{ document }], receipts: [{ public: key, receipt }] } = await get('/proofs.json');
    equal(await verifyReceipt(key, receipt), 'unavailable');
    equal(await verifyReceipt(key, { ...receipt, leaf: '00' }), 'bad');
    equal(receiptInProof(document, receipt), 'in');
    ok(verifyProof(document).every((f) => f.holds), 'proof');
  } finally {
    delete crypto.subtle;
  }
}

/** A draw of 100,000 takes about 4 s of one's own processor. Only what grows out of all proportion fails. */
export async function large() {
  const leaves = Array.from({ length: 100_000 }, (_, i) => leafOf('u', 'k', 0, `u-${i}`));
  const begun = performance.now();
  equal(orderOf('ab'.repeat(32), 'u', 'k', 0, leaves).length, leaves.length);
  ok(performance.now() - begun < 60_000, `${performance.now() - begun} ms`);
}
