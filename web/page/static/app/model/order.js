// The rules of a room as the form shows them: the first rule of each kind. Rules beyond that, which programs may have set, stay as they are.

/** @typedef {import('../../sdk/types.js').Rule} Rule */

/** What a rule may do with a text. */
export const doings = ['refuse', 'hold', 'report'];

/** How long each rule may last, in seconds; 0: there is none. */
export const times = { slow: [0, 5, 10, 30, 60, 300, 3600], wait: [0, 60, 600, 3600, 86_400], repeat: [0, 60, 600, 3600] };

/** After how many days members may send files; 0: there is no rule. */
export const fileDays = [0, 1, 3, 7, 30];

/**
 * @typedef {object} Form
 * @property {string} words     one in a line
 * @property {string} wordsDo
 * @property {string} say       what the author reads
 * @property {string} links     'all', 'none' or 'some'
 * @property {string} linksDo
 * @property {string} hosts     one in a line
 * @property {number} slow
 * @property {number} wait
 * @property {number} repeat
 * @property {number} files
 */

/** @param {Rule[]} rules @returns {Form} */
export function formOf(rules) {
  const first = (kind) => rules.find((r) => r.kind === kind);
  const words = first('words');
  const links = first('links');
  return {
    words: (words?.words ?? []).join('\n'), wordsDo: words?.do || 'refuse', say: words?.say ?? '',
    links: !links ? 'all' : links.hosts?.length ? 'some' : 'none', linksDo: links?.do || 'refuse', hosts: (links?.hosts ?? []).join('\n'),
    slow: first('slow')?.seconds ?? 0, wait: first('wait')?.seconds ?? 0, repeat: first('repeat')?.seconds ?? 0, files: first('files')?.days ?? 0,
  };
}

/** The rules that the form has no place for. @param {Rule[]} rules */
export function otherRules(rules) { return rules.filter((r, n) => r.kind === 'patterns' || rules.findIndex((other) => other.kind === r.kind) !== n); }

/** The rules that the form makes of those before. @param {Form} form @param {Rule[]} before @returns {Rule[]} */
export function rulesOf(form, before) {
  const words = lines(form.words);
  const hosts = lines(form.hosts.replace(/[,，、\s]+/g, '\n'));
  const say = form.say.trim();
  /** @type {(Rule|false)[]} */
  const made = [
    words.length > 0 && { kind: 'words', do: form.wordsDo, words, ...(say && { say }) },
    form.links !== 'all' && { kind: 'links', do: form.linksDo, ...(form.links === 'some' && { hosts }) },
    ...['slow', 'wait', 'repeat'].map((kind) => form[kind] > 0 && { kind, seconds: form[kind] }),
    form.files > 0 && { kind: 'files', days: form.files },
  ];
  const kept = (rule) => ({ ...(rule.kind !== 'words' && { say: before.find((r) => r.kind === rule.kind)?.say }), ...rule });
  return [...made.filter((r) => r !== false).map((r) => clean(kept(r))), ...otherRules(before)];
}

const lines = (text) => [...new Set(text.split('\n').map((word) => word.trim()).filter(Boolean))];

const clean = (rule) => Object.fromEntries(Object.entries(rule).filter(([, value]) => value !== undefined));
