import type { Statistics } from '../../../client/src/index.ts';
import { clientOf } from '../api/client.ts';

/** The statistics of what a request for history asks for, for one unit. */
export function loadStatistics(
  key: string,
  historyRequest: string,
  signal: AbortSignal,
): Promise<Statistics> {
  const query = new URLSearchParams(historyRequest.split('?')[1]);
  query.delete('interval');
  return clientOf(key).get<Statistics>('/rates/statistics', Object.fromEntries(query), { signal });
}
