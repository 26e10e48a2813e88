import { newReport } from '../../src/feeds/run/run-record.ts';
import type { RunReport } from '../../src/ledger/operations/feed-runs.ts';

/** What a run says that ended well and brought nothing. */
export const EMPTY_RUN: RunReport = { ...newReport(), status: 'ok', bodyHash: 'ab', bytes: 10, requests: 1 };
