import type { Board } from '../../../board/board.ts';
import type { EndpointContext, PriceEndpoint } from '../../model/endpoint.ts';
import { readFlag } from '../../params/parameters.ts';
import { parameterWarnings } from '../../params/synonyms.ts';
import { formatAccepted, formatInUrl } from '../../response/format.ts';
import type { Step } from '../request/step.ts';

export function readParameters({ board }: { board: Board }): Step<PriceEndpoint> {
  return (context, endpoint) => {
    const { request, query, now, dialect } = context;
    const { plan } = context.customer!;
    const namedFormat = formatInUrl(query, context.pathFormat);
    const format = namedFormat ?? formatAccepted(request.headers.get('accept'));
    const endpointContext: EndpointContext = { query, plan, board, now, format, dialect };
    const priceQuery = endpoint.read(endpointContext);
    const isDryRun = readFlag(query, 'dryRun');
    const view = board.view(plan.delaySeconds * 1000);
    context.priceRequest = {
      url: context.url.withoutKey,
      endpoint,
      context: endpointContext,
      namedFormat,
      pathFormat: context.pathFormat,
      priceQuery,
      view,
      isDryRun,
      warnings: parameterWarnings(query, endpoint.path, format),
    };
    return undefined;
  };
}
