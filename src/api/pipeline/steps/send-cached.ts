import type { Board } from '../../../board/board.ts';
import type { PriceEndpoint } from '../../model/endpoint.ts';
import { formatAccepted } from '../../response/format.ts';
import type { Step } from '../request/step.ts';
import type { Delivery } from './deliver.ts';

/** Sends the cached answer for this URL and plan, if it is still current: nothing is read or computed again. */
export function sendCached({ board, delivery }: { board: Board; delivery: Delivery }): Step<PriceEndpoint> {
  return (context, endpoint) => {
    const { knownUrl, now } = context;
    const answer = knownUrl?.answers.get(context.customer!.plan);
    if (!answer?.isCurrent || board.isDue(now)) return undefined;
    if (!knownUrl!.namesFormat && formatAccepted(context.request.headers.get('accept')) !== 'json') {
      return undefined;
    }
    return delivery.send(context, endpoint, answer);
  };
}
