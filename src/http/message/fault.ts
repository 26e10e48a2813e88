/**
 * Why a request cannot be parsed or handled. The connection is closed after the response: it is unknown where the next
 * request begins.
 */
export interface Fault {
  readonly status: 400 | 408 | 413 | 417 | 431 | 500 | 501 | 505;
  /** A clause without a full stop. */
  readonly reason: string;
}

export function fault(status: Fault['status'], reason: string): Fault {
  return { status, reason };
}

/** The fault of a handler that threw. */
export function handlerFault(error: unknown): Fault {
  return fault(500, error instanceof Error ? (error.stack ?? error.message) : String(error));
}

/** Thrown to a handler that reads an invalid or incomplete body. */
export class BodyFault extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.reason);
    this.fault = fault;
  }
}
