import { join } from 'node:path';
import { freePort } from '../http/free-port.ts';
import { newFolder } from '../ledger.ts';
import { eventually } from '../program.ts';

const PROMETHEUS = Bun.which('prometheus');
export const hasPrometheus = PROMETHEUS !== null;
if (!hasPrometheus)
  console.warn('prometheus is not installed: panels and rules are not evaluated by a real one.');

export interface Sample {
  metric: Record<string, string>;
  value: [number, string];
}

export interface Rule {
  name: string;
  health: string;
  lastError?: string;
  state: 'inactive' | 'pending' | 'firing';
}

/** A real Prometheus with the test's configuration. */
export class Prometheus {
  readonly #child: Bun.Subprocess;
  readonly #url: string;

  private constructor(child: Bun.Subprocess, url: string) {
    this.#child = child;
    this.#url = url;
  }

  static async start(configuration: string): Promise<Prometheus> {
    const folder = newFolder();
    const file = join(folder, 'prometheus.yml');
    await Bun.write(file, configuration);
    const address = `127.0.0.1:${freePort()}`;
    const flags = [`--config.file=${file}`, `--storage.tsdb.path=${join(folder, 'data')}`];
    const child = Bun.spawn([PROMETHEUS!, ...flags, `--web.listen-address=${address}`], {
      stdio: ['ignore', 'ignore', 'ignore'],
    });
    const prometheus = new Prometheus(child, `http://${address}`);
    const isReady = () =>
      fetch(`http://${address}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      );
    await eventually(isReady);
    return prometheus;
  }

  /** Throws when Prometheus cannot evaluate it. */
  async query(expression: string): Promise<Sample[]> {
    const url = `${this.#url}/api/v1/query?query=${encodeURIComponent(expression)}`;
    const answer = (await (await fetch(url)).json()) as { error?: string; data: { result: Sample[] } };
    if (answer.error !== undefined) throw new Error(`${expression}: ${answer.error}`);
    return answer.data.result;
  }

  async rules(): Promise<Rule[]> {
    const answer = (await (await fetch(`${this.#url}/api/v1/rules`)).json()) as {
      data: { groups: { rules: Rule[] }[] };
    };
    return answer.data.groups.flatMap(({ rules }) => rules);
  }

  async stop(): Promise<void> {
    this.#child.kill();
    await this.#child.exited;
  }
}
