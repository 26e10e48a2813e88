import type { OpenpitError } from '../../client/src/index.ts';

/** The error of a call that must fail. */
export function failure(call: Promise<unknown>): Promise<OpenpitError> {
  return call.then(
    () => Promise.reject(new Error('it succeeded')),
    (error) => error,
  );
}
