/** Why a request cannot be read, or not answered. The connection is closed after it is told: where the next one begins is not known. */
export interface Fault {
  readonly status: 400 | 408 | 413 | 417 | 431 | 500 | 501 | 505;
  /** What was wrong, as a sentence without its end. */
  readonly why: string;
}

export function fault(status: Fault['status'], why: string): Fault {
  return { status, why };
}

/** What it means that the handler threw. */
export function failure(error: unknown): Fault {
  return fault(500, error instanceof Error ? (error.stack ?? error.message) : String(error));
}

/** Thrown to a handler that reads an invalid or incomplete body. */
export class BodyFault extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.why);
    this.fault = fault;
  }
}
