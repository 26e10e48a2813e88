/** What is there already, or comes. */
export type Soon<T> = T | Promise<T>;

/** Goes on at once where a value is there, and else when it has come: who need not wait, does not. */
export function soon<T, R>(value: Soon<T>, goOn: (value: T) => Soon<R>): Soon<R> {
  return value instanceof Promise ? value.then(goOn) : goOn(value);
}
