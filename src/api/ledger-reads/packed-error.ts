import { fromThreadError, type ThreadError, toThreadError } from '../../runtime/threads/thread-error.ts';
import { Refusal, type RefusalOptions } from '../errors/errors.ts';

export type PackedError = { refusal: RefusalOptions } | { error: ThreadError };

export function packError(error: unknown): PackedError {
  if (!(error instanceof Refusal)) return { error: toThreadError(error) };
  const { code, status, message, retryAfterSeconds, members } = error;
  return { refusal: { code, status, message, retryAfterSeconds, members } };
}

export function unpackError(packed: PackedError): Error {
  return 'refusal' in packed ? new Refusal(packed.refusal) : fromThreadError(packed.error);
}
