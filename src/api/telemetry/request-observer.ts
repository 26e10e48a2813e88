import type { IncomingRequest } from '../../http/message/incoming-request.ts';
import type { RequestTimer } from '../../http/message/reply.ts';
import type { AccessLog } from '../../runtime/log/access-log.ts';
import type { Log } from '../../runtime/log/log.ts';
import type { Metrics } from './metrics.ts';
import { redactUrl } from './redact-url.ts';
import { traceIdOf } from './request-id.ts';

/** A request that has been answered, and whatever the logs tell about it. */
export interface ObservedRequest {
  readonly request: IncomingRequest;
  readonly requestId: string;
  readonly endpoint: string;
  readonly status: number;
  /** The account that asked, once it is known. */
  readonly account: string | undefined;
  /** The client's address. */
  readonly address: string;
}

/** Counts requests and their latency, and logs them where the operator wants that. */
export class RequestObserver {
  readonly #metrics: Metrics;
  readonly #log: Log;
  readonly #accessLog: AccessLog | undefined;
  /** Whether requests are logged. If not, `counter` is all a request needs. */
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

  /** Counts a request and logs it, once its time is known. */
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
