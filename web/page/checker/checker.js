// The page that checks a proof file without a server.

import { leafOf, verifyReceipt } from '../static/sdk/draw.js';
import { receiptInProof, verifyProof } from '../static/sdk/proof.js';
import { texts } from './texts.js';

const $ = (id) => document.getElementById(id);
let language = navigator.language.startsWith('zh') ? 'zh' : 'en';
let checked = false;

function t(name, values = {}) {
  return texts[language][name].replace(/\{(\w+)\}/g, (_, key) => values[key]);
}

/** element makes an element. Texts from files only ever become text nodes. */
function element(tag, { children = [], ...attributes } = {}) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const line = (text, kind = '') => element('li', { class: kind, children: [text] });

/** check shows what holds of the files in the form. */
async function check() {
  const result = [];
  const proof = parsed($('proof').value);
  if (proof.why) {
    result.push(element('h2', { class: 'bad', children: [t('unreadable', { why: proof.why })] }));
  } else {
    result.push(...verdict(proof.value));
    if ($('receipt').value.trim()) result.push(...await receiptVerdict(proof.value));
    result.push(...winnersTable(proof.value));
  }
  $('result').replaceChildren(...result);
}

function parsed(text) {
  try {
    const value = JSON.parse(text);
    if (value && typeof value === 'object' && !Array.isArray(value)) return { value };
    return { why: 'no JSON object' };
  } catch (error) {
    return { why: error.message };
  }
}

function verdict(proof) {
  const findings = verifyProof(proof);
  const good = findings.every((f) => f.holds);
  let at = proof.rain ? -1 : 0; // index of the wave that the finding is about
  const lines = findings.flatMap((f) => {
    if (f.what === 'instant') at++;
    const wave = proof.waves?.[at];
    const values = { text: f.text, wave: at + 1, commitment: proof.commitment, entries: wave?.entries, winners: wave?.winners?.length };
    const text = t(f.what === 'unnamed' ? 'unnamed' : `${f.what}.${f.holds ? 'good' : 'bad'}`, values);
    const item = line(text, f.what === 'unnamed' ? 'note' : f.holds ? '' : 'bad');
    return f.holds || f.what === 'unnamed' ? [item] : [item, line(t('detail', { text: f.text }), 'note')];
  });
  return [element('h2', { class: good ? 'good' : 'bad', children: [t(good ? 'good' : 'bad')] }), element('ul', { children: lines })];
}

async function receiptVerdict(proof) {
  const title = element('h2', { children: [t('receipt.title')] });
  const { value: receipt, why } = parsed($('receipt').value);
  if (why) return [title, element('p', { class: 'bad', children: [t('receipt.unreadable', { why })] })];
  const lines = await signatureLines(receipt);
  receipt.wave ??= 0;
  const wave = proof.waves?.find((w) => w.wave === receipt.wave);
  const { packet = proof.packet, user, leaf = own(proof, receipt) } = receipt;
  const where = receiptInProof(proof, { ...receipt, packet, user, leaf });
  lines.push(line(t(`included.${where}`, { entries: wave?.entries }), where === 'in' ? '' : 'bad'));
  if (where === 'in') lines.push(ownLine(proof, wave, leaf.toLowerCase()));
  return [title, element('ul', { children: lines })];
}

/** own returns the leaf of the receipt's user, or '' if fields are missing. */
function own(proof, receipt) {
  try {
    return leafOf(proof.sender, proof.key, receipt.wave, receipt.user);
  } catch {
    return '';
  }
}

async function signatureLines(receipt) {
  if (!receipt.signature) return [line(t('signature.none'), 'note')];
  const key = $('key').value.trim();
  const signed = await verifyReceipt(key || receipt.key, receipt);
  if (signed === 'good' && !key) return [line(t('signature.own', { key: receipt.key }), 'note')];
  return [line(t(`signature.${signed}`), { good: '', bad: 'bad', unavailable: 'note' }[signed])];
}

function ownLine(proof, wave, leaf) {
  const win = wave.winners?.find((w) => w.leaf.toLowerCase() === leaf);
  if (win) return line(t('mine.won', win));
  return line(t('mine.lost', { shares: Math.min(wave.entries, proof.count), entries: wave.entries }), 'note');
}

function winnersTable(proof) {
  const all = [proof.waves].flat().flatMap((w) => w?.winners ?? []).filter((winner) => winner && typeof winner === 'object');
  if (all.length === 0) return [];
  const mine = parsed($('receipt').value).value?.user;
  const columns = ['rank', 'amount', 'user'];
  const number = (column) => (column === 'user' ? '' : 'number');
  const head = columns.map((column) => element('th', { scope: 'col', class: number(column), children: [t(`column.${column}`)] }));
  const rows = all.map((winner) => element('tr', {
    class: mine && winner.user === mine ? 'mine' : '',
    children: columns.map((column) => element('td', { class: number(column), children: [cell(winner, column)] })),
  }));
  return [
    element('h2', { children: [t('winners')] }),
    element('div', { class: 'scroll', children: [element('table', { children: [
      element('thead', { children: [element('tr', { children: head })] }), element('tbody', { children: rows }),
    ] })] }),
    element('p', { class: 'hint', children: [t('minor')] }),
  ];
}

function cell(winner, column) {
  if (column !== 'user') return String(winner[column]);
  return element('bdi', { children: [winner.user || t('erased')] });
}

/** translate writes the texts of the form in the language. */
function translate() {
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';
  document.title = t('title');
  for (const part of document.querySelectorAll('[data-text]')) part.textContent = t(part.dataset.text);
  $('language').textContent = t('other');
  $('language').lang = language === 'zh' ? 'en' : 'zh-CN';
}

$('language').addEventListener('click', async () => {
  language = language === 'zh' ? 'en' : 'zh';
  translate();
  if (checked) await check();
});
$('form').addEventListener('submit', async (event) => {
  event.preventDefault();
  checked = true;
  await check();
  $('result').focus();
});
for (const input of document.querySelectorAll('input[type=file]')) {
  input.addEventListener('change', async () => {
    if (input.files[0]) $(input.dataset.for).value = await input.files[0].text();
  });
}
for (const area of document.querySelectorAll('.drop')) {
  const over = (is) => (event) => {
    event.preventDefault();
    area.classList.toggle('over', is);
  };
  area.addEventListener('dragover', over(true));
  area.addEventListener('dragleave', over(false));
  area.addEventListener('drop', async (event) => {
    over(false)(event);
    const [file] = event.dataTransfer.files;
    $(area.dataset.for).value = file ? await file.text() : event.dataTransfer.getData('text');
  });
}
translate();
