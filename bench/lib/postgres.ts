import { readdirSync, readFileSync } from 'node:fs';
import { SQL } from 'bun';

const TICKS_PER_SECOND = 100;

/** What a PostgreSQL on this machine has done so far. */
export interface Done {
  /** User and system time of all its processes, those that ended included. */
  cpuSeconds: number;
  transactions: number;
  atMs: number;
}

/** Looks at a PostgreSQL from outside: its processes' CPU time, and its own count of transactions. */
export class PostgresWatch {
  readonly #sql: SQL;
  readonly #postmaster: number;

  private constructor(sql: SQL, postmaster: number) {
    this.#sql = sql;
    this.#postmaster = postmaster;
  }

  static async open(url: string): Promise<PostgresWatch> {
    const sql = new SQL({ url, max: 1 });
    const [row] = await sql`SELECT pg_backend_pid() AS pid`;
    return new PostgresWatch(sql, statOf(Number(row.pid)).parent);
  }

  async done(): Promise<Done> {
    const [row] = await this.#sql`SELECT xact_commit + xact_rollback AS n FROM pg_stat_database
      WHERE datname = current_database()`;
    const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    let cpuSeconds = statOf(this.#postmaster).cpuSeconds;
    for (const pid of all) {
      const stat = tryStat(Number(pid));
      if (stat?.parent === this.#postmaster) cpuSeconds += stat.cpuSeconds;
    }
    return { cpuSeconds, transactions: Number(row.n), atMs: performance.now() };
  }

  close(): Promise<void> {
    return this.#sql.close();
  }
}

function tryStat(pid: number): { parent: number; cpuSeconds: number } | undefined {
  try {
    return statOf(pid);
  } catch {
    return undefined; // it has ended
  }
}

/** utime, stime, and those of children that were waited for. */
function statOf(pid: number): { parent: number; cpuSeconds: number } {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ').map(Number);
  const ticks = fields[11]! + fields[12]! + fields[13]! + fields[14]!;
  return { parent: fields[1]!, cpuSeconds: ticks / TICKS_PER_SECOND };
}
