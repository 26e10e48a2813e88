import type { RunReport } from '../../src/ledger/feed-runs.ts';

/** What a run says that ended well and brought nothing. */
export const EMPTY_RUN: RunReport = {
  status: 'ok',
  message: undefined,
  bodyHash: 'ab',
  bytes: 10,
  requests: 1,
  taken: 0,
  corrected: 0,
  unchanged: 0,
  missing: 0,
  refused: 0,
  reasons: [],
  odd: 0,
  ignored: 0,
  notes: [],
};
