import { Histogram } from '../../runtime/metrics/histogram.ts';
import type { ShareMetrics } from './sharing.ts';

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

  /** Calls `visit` for every endpoint and status that has occurred. */
  forEach(visit: (endpoint: string, status: number, histogram: Histogram) => void): void {
    for (const [endpoint, statuses] of this.#requests) {
      for (const [status, histogram] of statuses) visit(endpoint, status, histogram);
    }
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
    this.forEach((endpoint, status, histogram) => {
      lines.push(...histogram.lines('openpit_request_seconds', `endpoint="${endpoint}",status="${status}"`));
    });
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
