import type { ErrorCode, FamilyCode } from './types.ts';

/** What is known about a failed call. */
export interface ErrorDetails {
  /** The service's code, or that of this client: `connection_lost`, `timeout`, `redirected`, `invalid_response`, `http_` and the status. */
  code: ErrorCode | 'connection_lost' | 'timeout' | 'redirected' | 'invalid_response' | (string & {});
  /** The HTTP status; 0 without a response. */
  status?: number;
  /** For the operator of the service, who finds the request in the log by it. */
  requestId?: string | undefined;
  /** Seconds after which the service expects the request again. */
  retryAfter?: number | undefined;
  /** When the quota resets, in seconds since 1970. */
  resetAt?: number | undefined;
  /** Whether the service may have counted the request although there is no answer. */
  mayBeCounted?: boolean;
  cause?: unknown;
}

/** Any failed call. `message` says what is wrong, `advice` what to do about it. */
export class OpenpitError extends Error {
  override readonly name: string = 'OpenpitError';
  readonly code!: ErrorDetails['code'];
  readonly status: number = 0;
  readonly requestId: string | undefined;
  readonly retryAfter: number | undefined;
  readonly resetAt: number | undefined;
  readonly mayBeCounted: boolean = false;

  constructor(message: string, details: ErrorDetails) {
    super(message, details); // its cause
    Object.assign(this, details);
  }

  get advice(): string {
    return 'If the message does not help, send the operator of the service the request id.';
  }
}

/** 400 and other errors in the request itself. */
export class InvalidRequest extends OpenpitError {
  override readonly name = 'InvalidRequest';

  override get advice(): string {
    return 'Change the request as the message says. Sending it again does not help.';
  }
}

/** 401: no key, or one that is unknown, expired or revoked. */
export class InvalidKey extends OpenpitError {
  override readonly name = 'InvalidKey';

  override get advice(): string {
    return 'Check the option "key", or create a new key.';
  }
}

/** 403: the account or the plan does not allow it. */
export class NotAllowed extends OpenpitError {
  override readonly name = 'NotAllowed';

  override get advice(): string {
    return 'Call capabilities() to see what the key may do, or ask the operator of the service.';
  }
}

/** 404: an unknown path, symbol or currency, or no data. */
export class NotFound extends OpenpitError {
  override readonly name = 'NotFound';

  override get advice(): string {
    return 'Change the request as the message says. symbols() has the codes and the first day of each.';
  }
}

/** 429: more requests per second than the plan allows, even after the retries. */
export class RateLimited extends OpenpitError {
  override readonly name = 'RateLimited';

  override get advice(): string {
    return 'Send fewer requests at a time; other programs of the account count as well.';
  }
}

/** 429: the monthly quota is used up, or less is left than the request costs. */
export class QuotaExhausted extends OpenpitError {
  override readonly name = 'QuotaExhausted';

  override get advice(): string {
    return 'Wait until "resetAt", or ask for a larger plan.';
  }
}

/** 503: the service is starting or cannot reach its database, even after the retries. */
export class Unavailable extends OpenpitError {
  override readonly name = 'Unavailable';

  override get advice(): string {
    return 'Try again in a minute.';
  }
}

/** No complete answer arrived, or `already_charged`: it is no longer available. */
export class ConnectionLost extends OpenpitError {
  override readonly name = 'ConnectionLost';

  override get advice(): string {
    return this.mayBeCounted
      ? 'The request may have been counted, so it was not repeated. Call again if another unit does not matter.'
      : 'Check the option "url" and the network.';
  }
}

const CLASSES: Readonly<Record<string, typeof OpenpitError>> = {
  400: InvalidRequest,
  401: InvalidKey,
  403: NotAllowed,
  404: NotFound,
  405: InvalidRequest,
  414: InvalidRequest,
  429: RateLimited,
  503: Unavailable,
  account_suspended: NotAllowed,
  invalid_key: InvalidKey,
  quota_exhausted: QuotaExhausted,
  history_not_in_plan: NotAllowed,
  LIMIT_REACHED: QuotaExhausted,
  already_charged: ConnectionLost,
};

/** The error of a response, or of the last event of a stream. */
export function errorOf(
  status: number,
  body: Readonly<Record<string, unknown>>,
  headers?: { get(name: string): string | null },
): OpenpitError {
  // A gateway may send anything under the names of our fields.
  const [message, error, ownCode] = [body.message, body.error, body.code].map((value) =>
    typeof value === 'string' ? value : undefined,
  );
  const family = /^[A-Z_]+$/.test(error ?? '') ? (error as FamilyCode) : undefined; // /usage has its message there
  const code = ownCode ?? family ?? `http_${status}`;
  const ErrorClass = CLASSES[code] ?? CLASSES[status] ?? OpenpitError;
  return new ErrorClass(message ?? error ?? `The service answered with the status ${status}.`, {
    code,
    status,
    resetAt: body.resetAt as number | undefined,
    // A gateway does not know whether the request was counted.
    mayBeCounted: code === 'already_charged' || (status >= 500 && body.success !== false),
    requestId: headers?.get('x-request-id') ?? undefined,
    retryAfter: secondsOf(headers?.get('retry-after') ?? ''),
  });
}

/** A `Retry-After`: a number of seconds, or a date. */
function secondsOf(text: string): number | undefined {
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1_000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
