import { mergeMetrics, type ProcessMetrics } from '../../runtime/metrics/merge-metrics.ts';
import type { Assignment, FromChild, ToChild } from './messages.ts';

/** Well under the 10 s that Prometheus waits by default. A process that takes longer is shown as down. */
const WAIT_MS_MAX = 2_000;

/** A scrape that waits for the metrics of the other processes. */
interface Scrape {
  pages: ProcessMetrics[];
  done(): void;
}

/**
 * Collects the metrics of all processes on the shared port, whichever of them a scrape reaches. The supervisor relays their
 * messages, so no further port or file is needed.
 */
export class MetricsCollector {
  readonly #assignment: Assignment;
  readonly #send: (message: FromChild) => void;
  readonly #scrapes = new Map<number, Scrape>();
  #number = 0;
  #render: (() => string) | undefined;

  constructor(assignment: Assignment, send: (message: FromChild) => void) {
    this.#assignment = assignment;
    this.#send = send;
  }

  /** Given a function that renders this process's metrics, returns one that renders those of all processes. */
  readonly share = (render: () => string): (() => Promise<string>) => {
    this.#render = render;
    return () => this.#collect(render());
  };

  onMessage(message: ToChild): void {
    if (message.kind === 'collected') this.#add(message);
    else if (this.#render) {
      this.#send({ kind: 'collected', to: message.from, number: message.number, text: this.#render() });
    }
  }

  async #collect(own: string): Promise<string> {
    const { index, count } = this.#assignment;
    const number = ++this.#number;
    const pages = [{ process: index, text: own }];
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, WAIT_MS_MAX);
      const done = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#scrapes.set(number, { pages, done });
      this.#send({ kind: 'collect', number });
    });
    this.#scrapes.delete(number);
    pages.sort((a, b) => a.process - b.process);
    return mergeMetrics(pages) + upLines(pages, count);
  }

  #add({ from, number, text }: ToChild & { kind: 'collected' }): void {
    const scrape = this.#scrapes.get(number);
    if (!scrape) return; // too late
    scrape.pages.push({ process: from, text });
    if (scrape.pages.length === this.#assignment.count) scrape.done();
  }
}

function upLines(pages: readonly ProcessMetrics[], count: number): string {
  const lines = [
    '# HELP openpit_process_up 1 when a process of the shared port has contributed to this scrape.',
    '# TYPE openpit_process_up gauge',
  ];
  for (let process = 0; process < count; process++) {
    const isUp = pages.some((page) => page.process === process);
    lines.push(`openpit_process_up{process="${process}"} ${Number(isUp)}`);
  }
  return `${lines.join('\n')}\n`;
}
