import type { RawReply, Reply } from '../../../http/message/reply.ts';
import type { Endpoint } from '../../model/endpoint.ts';
import type { MaybeAsync } from '../../model/maybe-async.ts';
import type { RequestContext } from './request-context.ts';

export type Response = RawReply | Reply;

/**
 * One step of the request pipeline. A response ends the request; undefined passes it on to the next step. A step that
 * refuses throws a `Refusal`.
 */
export type Step<E extends Endpoint = Endpoint> = (
  context: RequestContext,
  endpoint: E,
) => MaybeAsync<Response | undefined>;
