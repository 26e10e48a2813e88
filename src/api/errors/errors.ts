import { ERRORS, type ErrorEntry, type ErrorMembers } from './error-table.ts';

export type ErrorCode = keyof typeof ERRORS;
type DetailsOf<C extends ErrorCode> = Parameters<(typeof ERRORS)[C]['message']>[0];

/**
 * An expected failure that is reported to the client. Steps and endpoints throw it; the pipeline turns it
 * into a response.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: ErrorCode;
  readonly status: number;
  /** For `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;
  /** Further members of the body. */
  readonly members: ErrorMembers | undefined;

  constructor({ code, status, message, retryAfterSeconds, members }: RefusalOptions) {
    super(message);
    this.code = code;
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
    this.members = members;
  }
}

export interface RefusalOptions {
  code: ErrorCode;
  status: number;
  message: string;
  retryAfterSeconds?: number | undefined;
  members?: ErrorMembers | undefined;
}

export function refuse<C extends ErrorCode>(
  code: C,
  details: DetailsOf<C>,
  retryAfterSeconds?: number,
): Refusal {
  const { status, message, members } = ERRORS[code] as ErrorEntry<DetailsOf<C>>;
  return new Refusal({
    code,
    status,
    message: message(details),
    retryAfterSeconds,
    members: members?.(details),
  });
}

/** Code, status and an example message of every error, for the documentation. */
export const ERROR_STATUSES: readonly { code: ErrorCode; status: number; example: string }[] = Object.entries(
  ERRORS,
).map(([code, { status, example }]) => ({ code: code as ErrorCode, status, example: example() }));
