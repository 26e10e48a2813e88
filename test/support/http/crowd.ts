import { join } from 'node:path';

/** Many raw connections from a separate process, which send something and then keep dripping bytes. */
export interface CrowdOptions {
  port: number;
  connections: number;
  /** Sent by each connection at once. */
  first: string;
  /** Sent by each connection repeatedly. */
  piece: string;
  everyMs: number;
  /** After this, open connections are dropped. */
  untilMs: number;
}

export interface CrowdReport {
  /** How many were connected at all. */
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

  /** Waits until all have tried to connect. Returns how many are connected. */
  async opened(): Promise<number> {
    return JSON.parse(await this.#line()).opened;
  }

  /** Waits until the server has closed all of them, or the time is up. */
  async report(): Promise<CrowdReport> {
    return JSON.parse(await this.#line());
  }

  /** Drops all connections at once. */
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
