import type { Customer, KnownKey } from '../../../gate/directory/customer.ts';
import type { IncomingRequest } from '../../../http/message/incoming-request.ts';
import type { SentKey } from '../../access/api-key.ts';
import { type SplitUrl, splitKey } from '../../access/split-key.ts';
import type { AnswerCache, KnownUrl } from '../../cache/answer-cache.ts';
import type { Endpoint } from '../../model/endpoint.ts';
import { type QueryParams, readQuery, readTarget, type Target } from '../../model/query.ts';
import type { Format } from '../../model/table.ts';
import type { ResponseContext } from '../../response/responses.ts';
import { givenRequestId, nextRequestId, type RequestId, requestIdText } from '../../telemetry/request-id.ts';
import { DIALECTS, type Dialect } from '../../versions/dialects.ts';
import type { ChargedAnswer } from './charged-answer.ts';
import type { PreparedAnswer } from './prepared-answer.ts';
import type { PriceRequest } from './price-request.ts';

/** One request on its way through the pipeline, with the results of the steps so far. */
export class RequestContext implements ResponseContext {
  readonly request: IncomingRequest;
  /** Returns the address of the other end of the connection; empty once it has disconnected. */
  readonly peer: () => string;
  /** Path and query without the API key, and that key. */
  readonly url: SplitUrl;
  /** What is cached for the URL; undefined if nothing is. */
  readonly knownUrl: KnownUrl | undefined;
  /** In ms. The pipeline updates it after each step that had to wait. */
  now: number;
  readonly id: RequestId;

  /** Set by `route`. */
  endpoint: Endpoint | undefined;
  /** Set by `route`: the value of `:id` in the endpoint's path. */
  pathId = '';
  /** Set by `route`: the format that the path ends in, as in `/rates/history.csv`. */
  pathFormat: Format | undefined;
  /** Set by `route`: the version of the interface that the path belongs to. */
  dialect: Dialect = DIALECTS.v1;
  /** Set by `authenticate`, also when it refuses a key that belongs to a customer. */
  customer: Customer | undefined;
  /** Set by `authenticate`. */
  sentKey: SentKey | undefined;
  /** Set by `authenticate`. */
  knownKey: KnownKey | undefined;
  /** Set by `readParameters`. */
  priceRequest: PriceRequest | undefined;
  /** Set by `answerOnce`, if a request with this id was charged before and its response was too long to be kept. */
  chargedBefore: ChargedAnswer | undefined;
  /** Set by `Charge`: whether units were taken for the request. */
  isCharged = false;
  /** Set by `Delivery`: the entity tag of the answer, if it is complete. */
  etag: string | undefined;
  /** Set by `buildAnswer`. */
  answer: PreparedAnswer | undefined;

  #target: Target | undefined;
  #query: QueryParams | undefined;

  constructor(request: IncomingRequest, peer: () => string, answerCache: AnswerCache, now: number) {
    this.request = request;
    this.peer = peer;
    this.url = splitKey(request.url);
    this.knownUrl = answerCache.find(this.url.withoutKey);
    this.now = now;
    this.id = givenRequestId(request) ?? nextRequestId();
  }

  /** The text of `id`. */
  get requestId(): string {
    return requestIdText(this.id);
  }

  /** Path and query. A request with a cached response never reads them. */
  get target(): Target {
    this.#target ??= readTarget(this.url.withoutKey);
    return this.#target;
  }

  get query(): QueryParams {
    this.#query ??= readQuery(this.target.query);
    return this.#query;
  }
}
