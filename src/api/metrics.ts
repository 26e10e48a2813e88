import { Histogram } from '../runtime/histogram.ts';

/** Something that is read when metrics are asked for. */
export interface Gauge {
  name: string;
  help: string;
  /** `gauge` unless it says otherwise. */
  type?: 'gauge' | 'counter';
  /** One number, or several by their labels, such as `feed="fred"`. */
  value(): number | ReadonlyMap<string, number> | Histogram;
}

/** Requests and their time, in the form that Prometheus reads. Labels are endpoints and statuses: never a URL. */
export class Metrics {
  readonly #requests = new Map<string, Map<number, Histogram>>();
  readonly #gauges: readonly Gauge[];

  constructor(gauges: readonly Gauge[]) {
    this.#gauges = gauges;
  }

  counter(endpoint: string, status: number): Histogram {
    return this.#requests.get(endpoint)?.get(status) ?? this.#add(endpoint, status);
  }

  #add(endpoint: string, status: number): Histogram {
    const statuses = this.#requests.getOrInsertComputed(endpoint, () => new Map<number, Histogram>());
    return statuses.getOrInsertComputed(status, () => new Histogram());
  }

  render(): string {
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
  if (now instanceof Histogram) {
    return [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`, ...now.lines(name, '')];
  }
  const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
  if (typeof now === 'number') lines.push(`${name} ${now}`);
  else for (const [labels, one] of now) lines.push(`${name}{${labels}} ${one}`);
  return lines;
}
