import type { Row } from '../row.ts';
import { brokenDownloads } from './broken-downloads.ts';
import { fuzzedFeeds } from './fuzzed-feeds.ts';
import { giantInputs } from './giant-inputs.ts';
import { idleConnections } from './idle-connections.ts';
import { madeRequests } from './made-requests.ts';
import { pastReads } from './past-reads.ts';
import { pipelining } from './pipelining.ts';
import { slowClients } from './slow-clients.ts';
import { smuggling } from './smuggling.ts';

/** Rows that abuse the program from outside. */
export const ABUSE_ROWS: readonly Row[] = [
  slowClients,
  idleConnections,
  giantInputs,
  smuggling,
  pipelining,
  madeRequests,
  pastReads,
  brokenDownloads,
  fuzzedFeeds,
];
