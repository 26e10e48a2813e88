import { Refusal } from '../errors/errors.ts';
import type { PackedError } from './protocol.ts';

export function packError(error: unknown): PackedError {
  if (error instanceof Refusal) {
    const { code, status, message, retryAfterSeconds, members } = error;
    return { kind: 'refusal', code, status, message, retryAfterSeconds, members };
  }
  if (!(error instanceof Error)) return { kind: 'error', message: String(error) };
  return {
    kind: 'error',
    message: error.message,
    ...(error.stack !== undefined && { stack: error.stack }),
    ...('code' in error && { code: String(error.code) }),
    ...('errno' in error && { errno: String(error.errno) }),
  };
}

export function unpackError(packed: PackedError): Refusal | Error {
  if (packed.kind === 'refusal') {
    return new Refusal(packed);
  }
  const { kind, message, ...rest } = packed;
  return Object.assign(new Error(message), rest);
}
