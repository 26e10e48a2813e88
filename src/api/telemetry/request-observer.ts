import type { IncomingRequest } from '../../http/message/incoming-request.ts';
import type { RequestTimer } from '../../http/message/reply.ts';
import type { AccessLog } from '../../runtime/log/access-log.ts';
import type { Log } from '../../runtime/log/log.ts';
import type { Metrics } from './metrics.ts';
import { redactUrl } from './redact-url.ts';
import { traceIdOf } from './request-id.ts';

/** A completed request, with everything the logs record about it. */
export interface ObservedRequest {
  readonly request: IncomingRequest;
  readonly requestId: string;
  readonly endpoint: string;
  readonly status: number;
  /** The account id, if the request was authenticated. */
  readonly account: string | undefined;
  /** The client's address. */
  readonly address: string;
}

/** Counts requests and their latency, and logs them if the operator has enabled it. */
export class RequestObserver {
  readonly #metrics: Metrics;
  readonly #log: Log;
  readonly #accessLog: AccessLog | undefined;
  /** If false, callers need only `counter`. */
  readonly logsRequests: boolean;

  constructor(metrics: Metrics, log: Log, accessLog: AccessLog | undefined) {
    this.#metrics = metrics;
    this.#log = log;
    this.#accessLog = accessLog;
    this.logsRequests = log.debugs || accessLog !== undefined;
  }

  counter(endpoint: string, status: number): RequestTimer {
    return this.#metrics.counter(endpoint, status);
  }

  /** Returns a timer that counts and logs the request when it is done. */
  logged(observed: ObservedRequest): RequestTimer {
    const counter = this.counter(observed.endpoint, observed.status);
    return {
      add: (ms) => {
        counter.add(ms);
        this.#write(observed, ms);
      },
    };
  }

  #write({ request, requestId, endpoint, status, account, address }: ObservedRequest, exactMs: number): void {
    const ms = Math.round(exactMs * 1_000) / 1_000;
    const { method } = request;
    const traceId = traceIdOf(request);
    this.#log.debug('request', { requestId, traceId, method, endpoint, status, ms });
    const url = redactUrl(request.url);
    this.#accessLog?.write({ requestId, traceId, method, url, endpoint, status, ms, account, address });
  }
}
