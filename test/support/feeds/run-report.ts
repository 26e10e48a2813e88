import { newReport } from '../../../src/feeds/run/run-record.ts';
import type { RunReport } from '../../../src/ledger/operations/feed-runs.ts';

/** The report of a successful run without prices. */
export const EMPTY_RUN: RunReport = { ...newReport(), status: 'ok', bodyHash: 'ab', bytes: 10, requests: 1 };
