// Reports to the host.
import { client } from '../client.js';

/**
 * @param {{room?: string, seq?: number, user?: string, reason: import('../../sdk/types.js').ReportReason, text?: string, key: string}} report
 */
export const report = (report) => client.report(report);
