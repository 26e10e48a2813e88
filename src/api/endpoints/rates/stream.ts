import { symbolSeriesOf } from '../../formulas/formula-parts.ts';
import type { StreamEndpoint } from '../../model/endpoint.ts';
import { findSymbols, readSymbolSet } from '../../params/parameters.ts';

/** GET /rates/stream: the latest rate of each symbol, now and whenever it changes, as server-sent events. */
export const stream: StreamEndpoint = {
  kind: 'stream',
  name: 'stream',
  path: '/rates/stream',
  requiredData: 'recent',

  read({ query, plan, board, now }) {
    const { symbols } = findSymbols(readSymbolSet(query, plan), board, now, { symbolsMax: plan.maxSymbols });
    return { symbols, series: symbolSeriesOf(symbols) };
  },
};
