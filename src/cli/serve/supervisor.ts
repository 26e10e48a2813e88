import { type Log, messageOf } from '../../runtime/log/log.ts';
import { type Assignment, type FromChild, SUPERVISOR_PID, type ToChild } from './messages.ts';

type Ready = FromChild & { kind: 'ready' };

/** Backoff for a child that keeps dying soon after its start. */
const RESTART_MS = 100;
const RESTART_MS_MAX = 5_000;
/** A child that ran this long resets the backoff. */
const STEADY_MS = 10_000;

/**
 * Runs `count` copies of this program on one port, and restarts a child that dies. A stop is passed on to all children and
 * waits for them. When the supervisor itself is killed, its IPC channel closes and the children stop.
 */
export class Supervisor {
  readonly #command: readonly string[];
  readonly #port: number;
  readonly #log: Log;
  readonly #children = new Map<number, Bun.Subprocess>();
  /** When each process has been ready for the first time. */
  readonly #ready = new Map<number, PromiseWithResolvers<Ready>>();
  #count = 0;
  #hasStarted = false;
  #stopping = false;

  constructor(command: readonly string[], port: number, log: Log) {
    this.#command = command;
    this.#port = port;
    this.#log = log;
  }

  /**
   * Resolves when every child is ready, with the message of the first. The first creates the ledger, so the others start
   * after it. If it exits before it is ready, a retry would not help: it has logged the reason, and the start fails.
   */
  async start(count: number): Promise<Ready> {
    this.#count = count;
    const first = await this.#start(0);
    this.#hasStarted = true;
    await Promise.all(Array.from({ length: count - 1 }, (_, i) => this.#start(i + 1)));
    return first;
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    for (const child of this.#children.values()) child.kill('SIGTERM');
    await Promise.all([...this.#children.values()].map((child) => child.exited));
  }

  /** Ends all children at once. What they have counted is in their spools. */
  kill(): void {
    for (const child of this.#children.values()) child.kill('SIGKILL');
  }

  #start(index: number): Promise<Ready> {
    const ready = Promise.withResolvers<Ready>();
    this.#ready.set(index, ready);
    this.#spawn(index, RESTART_MS);
    return ready.promise;
  }

  #spawn(index: number, delayMs: number): void {
    if (this.#stopping) return;
    const started = performance.now();
    let child: Bun.Subprocess;
    try {
      child = this.#startChild(index);
    } catch (error) {
      // The system is short of memory or processes, or the program is being replaced.
      if (!this.#hasStarted) throw error;
      this.#log.warn('a process could not be started, will be retried', {
        index,
        message: messageOf(error),
      });
      this.#spawnLater(index, delayMs);
      return;
    }
    this.#children.set(index, child);
    void child.exited.then((exitCode) => {
      this.#children.delete(index);
      if (this.#stopping) return;
      if (!this.#hasStarted) {
        this.#ready.get(index)?.reject(new Error('the first process did not start; its log says why'));
        return;
      }
      const steady = performance.now() - started > STEADY_MS;
      const waitMs = steady ? RESTART_MS : delayMs;
      this.#log.warn('a process exited and will be restarted', { index, exitCode, waitMs });
      this.#spawnLater(index, waitMs);
    });
  }

  #spawnLater(index: number, waitMs: number): void {
    setTimeout(() => this.#spawn(index, Math.min(waitMs * 2, RESTART_MS_MAX)), waitMs);
  }

  #startChild(index: number): Bun.Subprocess {
    const child = Bun.spawn([...this.#command], {
      env: { ...process.env, [SUPERVISOR_PID]: String(process.pid) },
      stdio: ['ignore', 'inherit', 'inherit'], // the access log may go to standard output
      ipc: (message: FromChild) => {
        if (message.kind === 'ready') this.#ready.get(index)?.resolve(message);
        else this.#relay(index, message);
      },
    });
    const isFirst = !this.#hasStarted;
    child.send({ index, count: this.#count, port: this.#port, isFirst } satisfies Assignment);
    return child;
  }

  /** Relays a request to all other children, and a response to the child that requested it. */
  #relay(from: number, message: Exclude<FromChild, Ready>): void {
    if (message.kind === 'collect') {
      const { what, number } = message;
      for (const index of this.#children.keys()) {
        if (index !== from) this.#send(index, { kind: 'collect', what, from, number });
      }
    } else {
      const { to, number, text } = message;
      this.#send(to, { kind: 'collected', from, number, text });
    }
  }

  #send(index: number, message: ToChild): void {
    try {
      this.#children.get(index)?.send(message);
    } catch {
      // The child is exiting. The requester has a timeout for processes that do not respond.
    }
  }
}
