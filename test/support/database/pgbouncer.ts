import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { SQL } from 'bun';
import { freePort } from '../http/free-port.ts';
import { newFolder } from '../ledger.ts';
import { eventually } from '../program.ts';

const PGBOUNCER =
  Bun.which('pgbouncer') ?? ((await Bun.file('/usr/sbin/pgbouncer').exists()) ? '/usr/sbin/pgbouncer' : null);

export const hasPgbouncer = PGBOUNCER !== null;

/** A real PgBouncer in transaction mode in front of the PostgreSQL that a URL names. */
export class Pgbouncer {
  readonly #process: Bun.Subprocess;
  readonly #port: number;

  private constructor(process: Bun.Subprocess, port: number) {
    this.#process = process;
    this.#port = port;
  }

  /** `settings` are further lines of its configuration. */
  static async start(url: string, connections: number, settings: readonly string[] = []): Promise<Pgbouncer> {
    const folder = newFolder();
    chmodSync(folder, 0o755); // as root, it runs as another user, which needs access
    const port = freePort();
    const users = join(folder, 'users.txt');
    const { hostname, port: serverPort, username, password } = new URL(url);
    await Bun.write(users, `"${username}" "${password}"\n`);
    const lines = [
      '[databases]',
      `* = host=${hostname} port=${serverPort}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = trust',
      `auth_file = ${users}`,
      'pool_mode = transaction',
      `default_pool_size = ${connections}`,
      'max_client_conn = 500',
      ...(process.getuid?.() === 0 ? ['user = nobody'] : []),
      ...settings,
    ];
    const configuration = join(folder, 'pgbouncer.ini');
    await Bun.write(configuration, `${lines.join('\n')}\n`);
    const child = Bun.spawn([PGBOUNCER!, '-q', configuration], { stdio: ['ignore', 'ignore', 'ignore'] });
    const pooler = new Pgbouncer(child, port);
    await eventually(() => canConnect(pooler.through(url)));
    return pooler;
  }

  /** The same database, reached through the pooler. */
  through(url: string): string {
    const through = new URL(url);
    through.port = String(this.#port);
    return through.href;
  }

  async stop(): Promise<void> {
    this.#process.kill();
    await this.#process.exited;
  }
}

async function canConnect(url: string): Promise<boolean> {
  const sql = new SQL({ url, max: 1, prepare: false });
  const answered = await sql
    .unsafe('SELECT 1')
    .simple()
    .then(Boolean, () => false);
  await sql.close();
  return answered;
}
