import { messageOf } from '../log/log.ts';

/** An error as it crosses threads, which preserve neither its class nor the codes that tell an outage from a bug. */
export interface ThreadError {
  message: string;
  stack?: string;
  code?: string;
  errno?: string;
}

export function toThreadError(error: unknown): ThreadError {
  if (!(error instanceof Error)) return { message: messageOf(error) };
  return {
    message: error.message,
    ...(error.stack !== undefined && { stack: error.stack }),
    ...('code' in error && { code: String(error.code) }),
    ...('errno' in error && { errno: String(error.errno) }),
  };
}

export function fromThreadError({ message, ...rest }: ThreadError): Error {
  return Object.assign(new Error(message), rest);
}
