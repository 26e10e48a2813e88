/** Many clients that send requests one after the other, until each has sent its share or the server is gone. */
export interface LoadResult {
  /** Responses by status. */
  statuses: Map<number, number>;
  /** Requests without a response: the connection broke. */
  broken: number;
}

export async function load(options: {
  url: string;
  key: string;
  connections: number;
  requests: number;
  /** Ends the load early, after the requests in progress. */
  until?: AbortSignal;
  /** Called after each response with the number of responses. */
  onAnswer?(answers: number): void;
}): Promise<LoadResult> {
  const result: LoadResult = { statuses: new Map(), broken: 0 };
  let left = options.requests;
  let answers = 0;
  const client = async () => {
    while (left > 0 && !options.until?.aborted) {
      left--;
      try {
        const response = await fetch(options.url, { headers: { 'x-api-key': options.key } });
        await response.text();
        result.statuses.set(response.status, (result.statuses.get(response.status) ?? 0) + 1);
        options.onAnswer?.(++answers);
      } catch {
        result.broken++;
      }
    }
  };
  await Promise.all(Array.from({ length: options.connections }, client));
  return result;
}
