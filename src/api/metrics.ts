/** Upper bounds of the latency buckets, in ms. */
const BOUNDS_MS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500];

/** Something that is read when metrics are asked for. */
export interface Gauge {
  name: string;
  help: string;
  /** One number, or several by their labels, such as `feed="fred"`. */
  value(): number | ReadonlyMap<string, number>;
}

/** The requests of one endpoint that ended in one status. */
export class RequestCounter {
  count = 0;
  sumMs = 0;
  readonly buckets = new Float64Array(BOUNDS_MS.length + 1);

  add(ms: number): void {
    this.count++;
    this.sumMs += ms;
    let bucket = 0;
    while (bucket < BOUNDS_MS.length && ms > BOUNDS_MS[bucket]!) bucket++;
    this.buckets[bucket]!++;
  }
}

/** Requests and their time, in the form that Prometheus reads. Labels are endpoints and statuses: never a URL. */
export class Metrics {
  readonly #requests = new Map<string, Map<number, RequestCounter>>();
  readonly #gauges: readonly Gauge[];

  constructor(gauges: readonly Gauge[]) {
    this.#gauges = gauges;
  }

  counter(endpoint: string, status: number): RequestCounter {
    return this.#requests.get(endpoint)?.get(status) ?? this.#add(endpoint, status);
  }

  #add(endpoint: string, status: number): RequestCounter {
    const statuses = this.#requests.getOrInsertComputed(endpoint, () => new Map<number, RequestCounter>());
    return statuses.getOrInsertComputed(status, () => new RequestCounter());
  }

  render(): string {
    const lines = [
      '# HELP openpit_request_seconds Requests by endpoint and status, and the time to their answers.',
      '# TYPE openpit_request_seconds histogram',
    ];
    for (const [endpoint, statuses] of this.#requests) {
      for (const [status, counter] of statuses) {
        lines.push(...histogram(`endpoint="${endpoint}",status="${status}"`, counter));
      }
    }
    for (const { name, help, value } of this.#gauges) {
      const now = value();
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} gauge`);
      if (typeof now === 'number') lines.push(`${name} ${now}`);
      else for (const [labels, one] of now) lines.push(`${name}{${labels}} ${one}`);
    }
    return `${lines.join('\n')}\n`;
  }
}

function histogram(labels: string, { count, sumMs, buckets }: RequestCounter): string[] {
  let sum = 0;
  const lines = BOUNDS_MS.map((bound, i) => {
    sum += buckets[i]!;
    return `openpit_request_seconds_bucket{${labels},le="${bound / 1000}"} ${sum}`;
  });
  lines.push(`openpit_request_seconds_bucket{${labels},le="+Inf"} ${count}`);
  lines.push(`openpit_request_seconds_sum{${labels}} ${sumMs / 1000}`);
  lines.push(`openpit_request_seconds_count{${labels}} ${count}`);
  return lines;
}
