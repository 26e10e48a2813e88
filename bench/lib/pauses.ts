import { join } from 'node:path';
import { linesOf } from '../../test/support/children/child.ts';
import type { Target } from './process.ts';

const IDLE = join(import.meta.dir, '..', 'targets', 'idle.ts');

/** The longest pause of each event loop in an interval, in ms. */
export interface Pause {
  server: number;
  /** The pause of an idle process at the same time: what the machine itself adds, above all a virtual one. */
  idle: number;
}

/** Watches the event loops of a server and of an idle process at the same time. */
export class Pauses {
  readonly #target: Target;
  readonly #headers: Record<string, string>;
  readonly #child: Bun.Subprocess<'pipe', 'pipe', 'inherit'>;
  readonly #lines: AsyncIterator<string>;

  private constructor(target: Target, token: string | undefined) {
    this.#target = target;
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    this.#child = Bun.spawn([process.execPath, IDLE], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#lines = linesOf(this.#child.stdout);
  }

  /** A server with an admin token requires it for /metrics. */
  static async watch(target: Target, token?: string): Promise<Pauses> {
    const pauses = new Pauses(target, token);
    await pauses.#lines.next();
    await pauses.take();
    return pauses;
  }

  /** The longest pauses since the last call. */
  async take(): Promise<Pause> {
    const text = await (await fetch(`${this.#target.url}/metrics`, { headers: this.#headers })).text();
    const [, seconds] = /^openpit_event_loop_lag_max_seconds\S* (\S+)/m.exec(text)!;
    this.#child.stdin.write('\n');
    this.#child.stdin.flush();
    return { server: Number(seconds) * 1_000, idle: Number((await this.#lines.next()).value) };
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#child.exited;
  }
}
