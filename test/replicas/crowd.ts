import { type Answer, Client } from '../support/http/client.ts';

export interface CrowdOptions {
  urls: readonly string[];
  path: string;
  key: string;
  /** Connections to each replica. */
  connections: number;
  /** Requests in total. Without it, clients send until `until`. */
  requests?: number;
  until?: AbortSignal;
  /** Whether a request that got a 503 is sent again, and does not count as one of `requests`. */
  retries503?: boolean;
  /** How long each client pauses after an answer. */
  pauseMs?: number;
}

/** The answers that all clients of a crowd have received. */
export class ReceivedAnswers {
  readonly #counts = new Map<Answer, number>();
  /** When each answer arrived and how long it took, in ms of the monotonic clock. */
  readonly answers: { at: number; ms: number; answer: Answer }[] = [];

  add(answer: Answer, at: number, ms: number): void {
    this.#counts.set(answer, this.count(answer) + 1);
    this.answers.push({ at, ms, answer });
  }

  count(answer: Answer): number {
    return this.#counts.get(answer) ?? 0;
  }

  /** How often each answer other than 200, 429 and 503 was received. A correct run has none. */
  get unexpected(): Record<string, number> {
    return Object.fromEntries(
      [...this.#counts].filter(([answer]) => ![200, 429, 503].includes(answer as number)),
    );
  }

  between(from: number, to: number): { at: number; ms: number; answer: Answer }[] {
    return this.answers.filter(({ at }) => at >= from && at < to);
  }
}

/** Many clients of every replica, each of which sends one request after the other. */
export async function crowd(options: CrowdOptions): Promise<ReceivedAnswers> {
  const { urls, path, key, connections, until, pauseMs = 0 } = options;
  const received = new ReceivedAnswers();
  let left = options.requests ?? Number.POSITIVE_INFINITY;
  const runClient = async (url: string) => {
    const client = new Client(url);
    while (left > 0 && !until?.aborted) {
      left--;
      const start = performance.now();
      const answer = await client.get(path, key);
      const now = performance.now();
      received.add(answer, now, now - start);
      if (answer === 503 && options.retries503) left++;
      const waitMs = answer === 'unreachable' || answer === 503 ? Math.max(pauseMs, 20) : pauseMs;
      if (waitMs > 0) await Bun.sleep(waitMs);
    }
    client.close();
  };
  await Promise.all(urls.flatMap((url) => Array.from({ length: connections }, () => runClient(url))));
  return received;
}
