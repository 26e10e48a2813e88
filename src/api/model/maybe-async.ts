/** A value, or a promise of it. */
export type MaybeAsync<T> = T | Promise<T>;

/** Like `then`, but synchronous for plain values. */
export function maybeAsync<T, R>(value: MaybeAsync<T>, next: (value: T) => MaybeAsync<R>): MaybeAsync<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
