import { Histogram } from '../../runtime/metrics/histogram.ts';

/** A metric that is read at scrape time. */
export interface Gauge {
  name: string;
  help: string;
  /** Defaults to `gauge`. */
  type?: 'gauge' | 'counter' | 'histogram';
  /** One value, or several by label, such as `feed="fred"`. */
  value(): Value | ReadonlyMap<string, Value>;
}

type Value = number | Histogram;

/** Takes the function that renders this process's metrics, and returns one that renders those of all processes on its port. */
export type ShareMetrics = (render: () => string) => () => Promise<string>;

/** Request counts and latencies, and all gauges, in the Prometheus text format. Labels never contain a URL. */
export class Metrics {
  readonly #requests = new Map<string, Map<number, Histogram>>();
  readonly #gauges: readonly Gauge[];
  /** Renders all metrics for a scrape. */
  readonly scrape: () => string | Promise<string>;

  constructor(gauges: readonly Gauge[], share?: ShareMetrics) {
    this.#gauges = gauges;
    const render = () => this.#render();
    this.scrape = share?.(render) ?? render;
  }

  counter(endpoint: string, status: number): Histogram {
    return this.#requests.get(endpoint)?.get(status) ?? this.#add(endpoint, status);
  }

  #add(endpoint: string, status: number): Histogram {
    const statuses = this.#requests.getOrInsertComputed(endpoint, () => new Map<number, Histogram>());
    return statuses.getOrInsertComputed(status, () => new Histogram());
  }

  #render(): string {
    const lines = [
      '# HELP openpit_request_seconds Time from the arrival of a request to its response, by endpoint and status.',
      '# TYPE openpit_request_seconds histogram',
    ];
    for (const [endpoint, statuses] of this.#requests) {
      for (const [status, histogram] of statuses) {
        lines.push(
          ...histogram.lines('openpit_request_seconds', `endpoint="${endpoint}",status="${status}"`),
        );
      }
    }
    for (const gauge of this.#gauges) lines.push(...gaugeLines(gauge));
    return `${lines.join('\n')}\n`;
  }
}

function gaugeLines({ name, help, type = 'gauge', value }: Gauge): string[] {
  const now = value();
  const values = now instanceof Map ? now : new Map([['', now as Value]]);
  const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
  for (const [labels, one] of values) {
    if (one instanceof Histogram) lines.push(...one.lines(name, labels));
    else lines.push(`${name}${labels === '' ? '' : `{${labels}}`} ${one}`);
  }
  return lines;
}
