// Reports to the host, what was decided about them, and appeals.
import { client } from '../client.js';
import { state, change } from '../state.js';

/**
 * @param {{room?: string, seq?: number, user?: string, reason: import('../../sdk/types.js').ReportReason, text?: string, key: string}} report
 */
export const report = (report) => client.report(report);

/** Reads the newest reports of both sides. */
export async function ownReports() {
  const [reported, reporter] = await Promise.all([client.reports({ side: 'reported' }), client.reports({ side: 'reporter' })]);
  change(() => { state.reports = { reported: page(reported), reporter: page(reporter) }; });
}

/** Reads the next page of one side. @param {'reported'|'reporter'} side */
export async function moreReports(side) {
  const known = state.reports[side];
  const got = page(await client.reports({ side, next: known.next }));
  change(() => { state.reports[side] = { items: [...known.items, ...got.items], next: got.next }; });
}

const page = ({ reports, next }) => ({ items: reports, next });

/** Asks the host to decide a report again. @param {string} report its id @param {string} text */
export async function appeal(report, text) {
  const { report: now } = await client.appeal(report, text);
  change(() => renewReport(now));
}

/** Takes a report as it is now, if the lists were read. */
export function renewReport(now) {
  const list = state.reports?.[now.side];
  if (!list) return;
  const at = list.items.findIndex((r) => r.report === now.report);
  if (at >= 0) list.items[at] = now;
  else list.items.unshift(now);
}
