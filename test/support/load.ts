/** Many clients that ask one after the other, until each has had its share or the server is gone. */
export interface LoadResult {
  /** Answers by status. */
  statuses: Map<number, number>;
  /** Requests that got no answer: the connection broke. */
  broken: number;
}

export async function load(options: {
  url: string;
  key: string;
  connections: number;
  requests: number;
  /** Ends the load early; requests under way are waited for. */
  until?: AbortSignal;
  /** Told after each answer how many there are. */
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
