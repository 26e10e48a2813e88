import type { MarketEndpoint, PriceEndpoint } from '../../model/endpoint.ts';
import type { MaybeAsync } from '../../model/maybe-async.ts';
import type { RequestContext } from '../request/request-context.ts';
import type { Response, Step } from '../request/step.ts';
import type { IdempotentAnswers } from './idempotent-answers.ts';

export interface AnswerOnceOptions {
  idempotentAnswers: IdempotentAnswers;
}

/**
 * Marks a request id that identifies retries. A dedicated header would cost every request a lookup; ids
 * without the prefix may come from gateways, which assign a new one to each attempt.
 */
const PREFIX = 'once-';

/** Charges a request once, however often it arrives with the same id. `run` executes the steps that follow. */
export function answerOnce<E extends PriceEndpoint | MarketEndpoint>(
  { idempotentAnswers }: AnswerOnceOptions,
  run: (context: RequestContext, endpoint: E) => MaybeAsync<Response>,
): Step<E> {
  return (context, endpoint) => {
    const { id } = context;
    if (typeof id !== 'string' || !id.startsWith(PREFIX) || context.request.method !== 'GET')
      return undefined;
    const request = `${context.customer!.id} ${id} ${context.url.withoutKey}`;
    return idempotentAnswers.once(request, async (chargedBefore) => {
      context.chargedBefore = chargedBefore;
      const response = await run(context, endpoint);
      const { isCharged, etag } = context;
      return { response, isCharged, etag };
    });
  };
}
