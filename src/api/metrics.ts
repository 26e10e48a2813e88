/** Upper bounds of the latency buckets, in seconds. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Something that is read when metrics are asked for. */
export interface Gauge {
  name: string;
  help: string;
  value(): number;
}

interface Series {
  count: number;
  seconds: number;
  buckets: number[];
}

/** Counts of requests and their time, in the form that Prometheus reads. Labels are endpoints and statuses: never a URL. */
export class Metrics {
  readonly #requests = new Map<string, Map<number, Series>>();
  readonly #gauges: readonly Gauge[];

  constructor(gauges: readonly Gauge[]) {
    this.#gauges = gauges;
  }

  count(endpoint: string, status: number, seconds: number): void {
    const statuses = this.#requests.getOrInsertComputed(endpoint, () => new Map<number, Series>());
    const series = statuses.getOrInsertComputed(status, () => ({
      count: 0,
      seconds: 0,
      buckets: new Array<number>(BUCKETS.length).fill(0),
    }));
    series.count++;
    series.seconds += seconds;
    const bucket = BUCKETS.findIndex((bound) => seconds <= bound);
    if (bucket >= 0) series.buckets[bucket]!++;
  }

  render(): string {
    const lines = [
      '# HELP openpit_request_seconds Requests by endpoint and status, and the time to their answers.',
      '# TYPE openpit_request_seconds histogram',
    ];
    for (const [endpoint, statuses] of this.#requests) {
      for (const [status, { count, seconds, buckets }] of statuses) {
        const labels = `endpoint="${endpoint}",status="${status}"`;
        let sum = 0;
        BUCKETS.forEach((bound, i) => {
          sum += buckets[i]!;
          lines.push(`openpit_request_seconds_bucket{${labels},le="${bound}"} ${sum}`);
        });
        lines.push(`openpit_request_seconds_bucket{${labels},le="+Inf"} ${count}`);
        lines.push(`openpit_request_seconds_sum{${labels}} ${seconds}`);
        lines.push(`openpit_request_seconds_count{${labels}} ${count}`);
      }
    }
    for (const { name, help, value } of this.#gauges) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, `${name} ${value()}`);
    }
    return `${lines.join('\n')}\n`;
  }
}
