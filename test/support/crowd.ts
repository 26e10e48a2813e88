import { join } from 'node:path';

/** Many raw connections that each send something and then go on dripping, from a process of their own. */
export interface CrowdOptions {
  port: number;
  connections: number;
  /** Sent at once by each. */
  first: string;
  /** Sent by each again and again. */
  piece: string;
  everyMs: number;
  /** Those that are open by then are let go of. */
  untilMs: number;
}

export interface CrowdReport {
  /** How many got a connection at all. */
  opened: number;
  /** How many of these the server closed. */
  closed: number;
  /** The longest that one of them was held, in ms. */
  slowestCloseMs: number;
}

export class Crowd {
  readonly #child;
  readonly #lines: ReturnType<ReadableStream<string>['values']>;
  #rest = '';

  constructor(options: CrowdOptions) {
    const script = join(import.meta.dir, 'crowd-program.ts');
    this.#child = Bun.spawn([process.execPath, script, JSON.stringify(options)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#lines = this.#child.stdout.pipeThrough(new TextDecoderStream()).values();
  }

  /** Waits until all have tried; answers how many have a connection. */
  async opened(): Promise<number> {
    return JSON.parse(await this.#line()).opened;
  }

  /** Waits until the server has closed all, or the time is over. */
  async report(): Promise<CrowdReport> {
    return JSON.parse(await this.#line());
  }

  /** Lets go of all connections at once. */
  async leave(): Promise<void> {
    this.#child.kill();
    await this.#child.exited;
  }

  async #line(): Promise<string> {
    while (!this.#rest.includes('\n')) {
      const { value, done } = await this.#lines.next();
      if (done) throw new Error('the crowd ended');
      this.#rest += value;
    }
    const [line, ...rest] = this.#rest.split('\n');
    this.#rest = rest.join('\n');
    return line!;
  }
}
