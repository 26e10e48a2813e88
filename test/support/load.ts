import { Client } from './http/client.ts';

export interface LoadResult {
  /** Responses by status. */
  statuses: Map<number, number>;
  /** Requests without a response: the connection broke. */
  broken: number;
}

/** How long a client waits before it tries a server again that has gone. */
const GONE_PAUSE_MS = 5;

/** Many clients that send requests one after the other, each over its own connection, until the load ends. */
export async function load(options: {
  url: string;
  key: string;
  connections: number;
  /** Without it, the load ends with `until`. */
  requests?: number;
  /** Ends the load early, after the requests in progress. */
  until?: AbortSignal;
  /** The pause of each client after a response. Without one, the load takes all the CPU time there is. */
  pauseMs?: number;
  /** Called after each response with the number of responses. */
  onAnswer?(answers: number): void;
}): Promise<LoadResult> {
  const { url, key, until, pauseMs = 0 } = options;
  const path = url.slice(new URL(url).origin.length);
  const result: LoadResult = { statuses: new Map(), broken: 0 };
  let left = options.requests ?? Number.POSITIVE_INFINITY;
  let answers = 0;
  const ask = async () => {
    const client = new Client(url);
    while (left > 0 && !until?.aborted) {
      left--;
      const answer = await client.get(path, key);
      if (typeof answer === 'number') {
        result.statuses.set(answer, (result.statuses.get(answer) ?? 0) + 1);
        options.onAnswer?.(++answers);
        if (pauseMs > 0) await Bun.sleep(pauseMs);
      } else {
        result.broken++;
        await Bun.sleep(GONE_PAUSE_MS);
      }
    }
    client.close();
  };
  await Promise.all(Array.from({ length: options.connections }, ask));
  return result;
}
