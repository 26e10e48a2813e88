import type { Board } from '../../../board/board.ts';
import { answerFor } from '../../cache/answer-cache.ts';
import type { PriceEndpoint } from '../../model/endpoint.ts';
import { formatAccepted } from '../../response/format.ts';
import { wouldBeFree } from '../formulas/charge-formulas.ts';
import type { Step } from '../request/step.ts';
import type { Delivery } from './deliver.ts';

/** Sends the cached answer for this URL and plan, if it is still current: nothing is read or computed again. */
export function sendCached({ board, delivery }: { board: Board; delivery: Delivery }): Step<PriceEndpoint> {
  return (context, endpoint) => {
    const { knownUrl, now, customer, request } = context;
    const answer = knownUrl && answerFor(customer!.plan, knownUrl);
    if (!answer?.isCurrent(now) || board.isDue(now)) return undefined;
    if (knownUrl!.hasFormulas && wouldBeFree(context)) return undefined; // `chargeFormulas` charges for it
    const isJson = knownUrl!.namesFormat || formatAccepted(request.headers.get('accept')) === 'json';
    return isJson ? delivery.send(context, endpoint, answer) : undefined;
  };
}
