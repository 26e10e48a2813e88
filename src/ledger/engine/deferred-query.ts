import type { SQL } from 'bun';

/**
 * A query that runs when it is awaited, so that it can run in a transaction or be retried. Supports what the ledger uses of
 * Bun's queries: `await`, `.values()` and `.execute()`.
 */
export class DeferredQuery implements PromiseLike<unknown> {
  readonly #run: (asArrays: boolean) => Promise<unknown>;
  #asArrays = false;
  #result: Promise<unknown> | undefined;

  /** `run` returns the rows, as arrays of cells or as objects. */
  constructor(run: (asArrays: boolean) => Promise<unknown>) {
    this.#run = run;
  }

  /** Rows as arrays instead of objects. */
  values(): this {
    this.#asArrays = true;
    return this;
  }

  /** Runs the query now instead of when it is awaited. */
  execute(): this {
    this.then(undefined, () => {}); // the error is reported to the caller that awaits it
    return this;
  }

  // biome-ignore lint/suspicious/noThenProperty: a query is awaited
  then<A = unknown, B = never>(
    onResult?: ((value: unknown) => A | PromiseLike<A>) | null,
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#result ??= this.#run(this.#asArrays);
    return this.#result.then(onResult, onError);
  }

  catch<B>(onError: (error: unknown) => B | PromiseLike<B>): Promise<unknown> {
    return this.then(undefined, onError);
  }
}

/** Runs one of Bun's queries. */
export function rowsOf(query: SQL.Query<unknown>, asArrays: boolean): Promise<unknown> {
  return asArrays ? query.values() : query;
}
