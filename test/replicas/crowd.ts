import { type Answer, Client } from '../support/http/client.ts';

export interface CrowdOptions {
  urls: readonly string[];
  path: string;
  key: string;
  /** To each replica. */
  connections: number;
  /** How many in all; without it, until `until`. */
  requests?: number;
  until?: AbortSignal;
  /** Whether one that is told to come back later does so, so that its request does not count as one of `requests`. */
  comesBack?: boolean;
  /** A pause of each client after each answer. */
  pauseMs?: number;
}

/** What many clients heard. */
export class Heard {
  readonly #counts = new Map<Answer, number>();
  /** When each answer came and how long it took, in ms of the monotonic clock. */
  readonly answers: { at: number; ms: number; answer: Answer }[] = [];

  add(answer: Answer, at: number, ms: number): void {
    this.#counts.set(answer, this.count(answer) + 1);
    this.answers.push({ at, ms, answer });
  }

  count(answer: Answer): number {
    return this.#counts.get(answer) ?? 0;
  }

  /** Everything but answers, refusals and 503: none of it should ever be. */
  get odd(): Record<string, number> {
    return Object.fromEntries(
      [...this.#counts].filter(([answer]) => ![200, 429, 503].includes(answer as number)),
    );
  }

  between(from: number, to: number): { at: number; ms: number; answer: Answer }[] {
    return this.answers.filter(({ at }) => at >= from && at < to);
  }
}

/** Many clients at every replica, each asking one request after the other. */
export async function crowd(options: CrowdOptions): Promise<Heard> {
  const { urls, path, key, connections, until, pauseMs = 0 } = options;
  const heard = new Heard();
  let left = options.requests ?? Number.POSITIVE_INFINITY;
  const ask = async (url: string) => {
    const client = new Client(url);
    while (left > 0 && !until?.aborted) {
      left--;
      const start = performance.now();
      const answer = await client.get(path, key);
      const now = performance.now();
      heard.add(answer, now, now - start);
      if (answer === 503 && options.comesBack) left++;
      const waitMs = answer === 'unreachable' || answer === 503 ? Math.max(pauseMs, 20) : pauseMs;
      if (waitMs > 0) await Bun.sleep(waitMs);
    }
    client.close();
  };
  await Promise.all(urls.flatMap((url) => Array.from({ length: connections }, () => ask(url))));
  return heard;
}

/** The value below which a share of them lies. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
