import type { MarketEndpoint } from '../../model/endpoint.ts';

/** GET /market: all symbols with their newest prices and recent closes, in one response. */
export const market: MarketEndpoint = { kind: 'market', name: 'market', path: '/market', part: 'full' };

/** GET /market/quotes: the newest prices, free for an hour after /market. */
export const marketQuotes: MarketEndpoint = {
  kind: 'market',
  name: 'market',
  path: '/market/quotes',
  part: 'quotes',
};
