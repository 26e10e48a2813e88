import { type Log, messageOf } from '../../runtime/log/log.ts';
import type { Assignment, FromChild, ToChild } from './messages.ts';

type Ready = FromChild & { kind: 'ready' };

/** A child that dies at once is started again later and later. */
const RESTART_MS = 100;
const RESTART_MS_MAX = 5_000;
/** After so long a child has proved itself. */
const STEADY_MS = 10_000;

/**
 * Runs `count` copies of this program on one port. A child that dies is started again. A stop is passed on to all, and waited
 * for; when the supervisor itself is killed, its channel closes and the children end by themselves.
 */
export class Supervisor {
  readonly #command: readonly string[];
  readonly #port: number;
  readonly #log: Log;
  readonly #children = new Map<number, Bun.Subprocess>();
  #count = 0;
  #hasStarted = false;
  #stopping = false;

  constructor(command: readonly string[], port: number, log: Log) {
    this.#command = command;
    this.#port = port;
    this.#log = log;
  }

  /**
   * Resolves when every child is ready, with what the first said. The first makes the ledger, so the others wait for it.
   * When the first ends before it is ready, what it lacks will not come by itself: it has said why, and nothing is tried again.
   */
  async start(count: number): Promise<Ready> {
    this.#count = count;
    const first = await this.#spawn(0);
    this.#hasStarted = true;
    await Promise.all(Array.from({ length: count - 1 }, (_, i) => this.#spawn(i + 1)));
    return first;
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    for (const child of this.#children.values()) child.kill('SIGTERM');
    await Promise.all([...this.#children.values()].map((child) => child.exited));
  }

  #spawn(index: number, delayMs = RESTART_MS): Promise<Ready> {
    const ready = Promise.withResolvers<Ready>();
    const started = performance.now();
    const child = Bun.spawn([...this.#command], {
      stdio: ['ignore', 'ignore', 'inherit'],
      ipc: (message: FromChild) => {
        if (message.kind === 'ready') ready.resolve(message);
        else this.#passOn(index, message);
      },
    });
    this.#children.set(index, child);
    child.send({ index, count: this.#count, port: this.#port } satisfies Assignment);
    void child.exited.then((exitCode) => {
      this.#children.delete(index);
      if (this.#stopping) return;
      if (!this.#hasStarted) {
        ready.reject(new Error('the first process did not start'));
        return;
      }
      const steady = performance.now() - started > STEADY_MS;
      const wait = steady ? RESTART_MS : delayMs;
      this.#log.warn('a process ended and is started again', { index, exitCode, waitMs: wait });
      setTimeout(() => this.#again(index, Math.min(wait * 2, RESTART_MS_MAX)), wait);
    });
    return ready.promise;
  }

  /** A question goes to all others, an answer to the one that asked. */
  #passOn(from: number, message: Exclude<FromChild, Ready>): void {
    if (message.kind === 'collect') {
      const { number } = message;
      for (const index of this.#children.keys()) {
        if (index !== from) this.#tell(index, { kind: 'collect', from, number });
      }
    } else {
      const { to, number, text } = message;
      this.#tell(to, { kind: 'collected', from, number, text });
    }
  }

  #tell(index: number, message: ToChild): void {
    try {
      this.#children.get(index)?.send(message);
    } catch {
      // It is ending; whoever asked waits no longer than for any process that is silent.
    }
  }

  #again(index: number, delayMs: number): void {
    if (this.#stopping) return;
    this.#spawn(index, delayMs).catch((error) =>
      this.#log.error('a process did not start', { message: messageOf(error) }),
    );
  }
}
