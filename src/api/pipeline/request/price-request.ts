import type { View } from '../../../board/views/view.ts';
import type { EndpointContext, PriceEndpoint } from '../../model/endpoint.ts';
import type { PriceQuery } from '../../model/price-query.ts';
import type { Format } from '../../model/table.ts';

/** A request for prices whose parameters are valid. */
export interface PriceRequest {
  /** Without the API key. */
  url: string;
  endpoint: PriceEndpoint;
  context: EndpointContext;
  /** The format that the URL names, and the one that its path ends in. */
  namedFormat: Format | undefined;
  pathFormat: Format | undefined;
  priceQuery: PriceQuery;
  view: View;
  /** Whether only its cost is wanted. */
  isDryRun: boolean;
  /** About parameters that have no effect. */
  warnings: readonly string[];
}
