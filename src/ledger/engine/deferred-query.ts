import type { SQL } from 'bun';

type Finish = (query: SQL.Query<unknown>) => Promise<unknown>;

/**
 * A query that is created when it is awaited, so that it can run in a transaction or be retried. Supports what the ledger
 * uses of Bun's queries: `await`, `.values()` and `.execute()`.
 */
export class DeferredQuery implements PromiseLike<unknown> {
  readonly #run: (finish: Finish) => Promise<unknown>;
  #finish: Finish = (query) => query;
  #result: Promise<unknown> | undefined;

  /** `run` creates the query, passes it to `finish` and returns the result. */
  constructor(run: (finish: Finish) => Promise<unknown>) {
    this.#run = run;
  }

  /** Rows as arrays instead of objects. */
  values(): this {
    this.#finish = (query) => query.values();
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
    this.#result ??= this.#run(this.#finish);
    return this.#result.then(onResult, onError);
  }

  catch<B>(onError: (error: unknown) => B | PromiseLike<B>): Promise<unknown> {
    return this.then(undefined, onError);
  }
}
