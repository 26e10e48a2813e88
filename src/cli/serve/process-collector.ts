import { mergeMetrics, type ProcessMetrics } from '../../runtime/metrics/merge-metrics.ts';
import type { Assignment, FromChild, SharedText, ToChild } from './messages.ts';

/** Well under the 10 s that Prometheus waits by default. A process that takes longer is shown as down. */
const WAIT_MS_MAX = 2_000;

/** A request that waits for the texts of the other processes. */
interface Collection {
  pages: ProcessMetrics[];
  done(): void;
}

/**
 * Collects a text of all processes on the shared port, whichever of them a request reaches. The supervisor relays their
 * messages, so no further port or file is needed.
 */
export class ProcessCollector {
  readonly #assignment: Assignment;
  readonly #send: (message: FromChild) => void;
  readonly #collections = new Map<number, Collection>();
  readonly #render = new Map<SharedText, () => string>();
  #number = 0;

  constructor(assignment: Assignment, send: (message: FromChild) => void) {
    this.#assignment = assignment;
    this.#send = send;
  }

  /** Given a function that renders this process's metrics, returns one that renders those of all processes. */
  readonly shareMetrics = (render: () => string): (() => Promise<string>) => {
    this.#render.set('metrics', render);
    return async () => {
      const pages = await this.#collect('metrics', render());
      return mergeMetrics(pages) + upLines(pages, this.#assignment.count);
    };
  };

  /** The same for the traffic, as one text per process. */
  readonly shareTraffic = (render: () => string): (() => Promise<string[]>) => {
    this.#render.set('traffic', render);
    return async () => (await this.#collect('traffic', render())).map(({ text }) => text);
  };

  onMessage(message: ToChild): void {
    if (message.kind === 'collected') this.#add(message);
    else {
      const { what, from, number } = message;
      const text = this.#render.get(what)?.();
      if (text !== undefined) this.#send({ kind: 'collected', to: from, number, text });
    }
  }

  async #collect(what: SharedText, own: string): Promise<ProcessMetrics[]> {
    const { index } = this.#assignment;
    const number = ++this.#number;
    const pages = [{ process: index, text: own }];
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, WAIT_MS_MAX);
      const done = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#collections.set(number, { pages, done });
      this.#send({ kind: 'collect', what, number });
    });
    this.#collections.delete(number);
    return pages.sort((a, b) => a.process - b.process);
  }

  #add({ from, number, text }: ToChild & { kind: 'collected' }): void {
    const collection = this.#collections.get(number);
    if (!collection) return; // too late
    collection.pages.push({ process: from, text });
    if (collection.pages.length === this.#assignment.count) collection.done();
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
