/** What is there already, or comes. */
export type MaybeAsync<T> = T | Promise<T>;

/** Goes on at once where a value is there, and else when it has come: who need not wait, does not. */
export function maybeAsync<T, R>(value: MaybeAsync<T>, goOn: (value: T) => MaybeAsync<R>): MaybeAsync<R> {
  return value instanceof Promise ? value.then(goOn) : goOn(value);
}
