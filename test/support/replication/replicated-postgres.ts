import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../http/free-port.ts';
import { eventually } from '../program.ts';
import { createDataFolder } from './data-folder.ts';
import { PostgresServer, postgresUser } from './postgres-server.ts';

export type Replication = 'synchronous' | 'asynchronous';

const CATCH_UP_MS_MAX = 30_000;

/** A primary and its streaming standby, both real. */
export class ReplicatedPostgres {
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
  readonly #folder: string;

  private constructor(folder: string, primary: PostgresServer, standby: PostgresServer) {
    this.#folder = folder;
    this.primary = primary;
    this.standby = standby;
  }

  static async start(replication: Replication): Promise<ReplicatedPostgres> {
    const folder = mkdtempSync(join(tmpdir(), 'openpit-replication-'));
    chmodSync(folder, 0o755); // as root, the servers run as another user and must get in
    const primary = new PostgresServer(join(folder, 'one'), freePort());
    const standby = new PostgresServer(join(folder, 'two'), freePort());
    const both = new ReplicatedPostgres(folder, primary, standby);
    await createDataFolder(primary.folder);
    copyAsStandby(primary, standby);
    await primary.start();
    await standby.start();
    if (replication === 'synchronous') await both.#makeSynchronous();
    return both;
  }

  /** Both hosts in one URL, the way libpq writes it. */
  get url(): string {
    return urlOf(this.primary, this.standby);
  }

  /** Makes the standby the primary, and waits until it can be written to. */
  async promote(): Promise<void> {
    await this.standby.query('SELECT pg_promote(true, 30)');
  }

  /** Cuts the standby off: what the primary writes from now on is lost with it. */
  async stopStreaming(): Promise<void> {
    await this.standby.query(`ALTER SYSTEM SET primary_conninfo = ''`);
    await this.standby.query('SELECT pg_reload_conf()');
    await eventually(
      async () => (await this.standby.query('SELECT 1 FROM pg_stat_wal_receiver')).length === 0,
      CATCH_UP_MS_MAX,
    );
  }

  /** A planned switchover: the two servers change their roles. */
  async switchOver(from = this.primary, to = this.standby): Promise<void> {
    await from.end('SIGINT'); // after it has sent everything to its standby
    await to.query('SELECT pg_promote(true, 30)');
    makeStandby(from, to);
    await from.start();
  }

  /** Waits until the standby has replayed everything that the primary has written so far. */
  async caughtUp(primary = this.primary, standby = this.standby): Promise<void> {
    const [row] = await primary.query('SELECT pg_current_wal_lsn()::text AS lsn');
    await eventually(async () => {
      const [replayed] = await standby.query(
        `SELECT pg_last_wal_replay_lsn() >= '${row!.lsn}'::pg_lsn AS done`,
      );
      return replayed!.done === true;
    }, CATCH_UP_MS_MAX);
  }

  async remove(): Promise<void> {
    await Promise.all([this.primary, this.standby].map((server) => server.end('SIGKILL')));
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  async #makeSynchronous(): Promise<void> {
    await this.primary.query(`ALTER SYSTEM SET synchronous_standby_names = 'standby'`);
    await this.primary.query('SELECT pg_reload_conf()');
    await eventually(async () => {
      const rows = await this.primary.query(`SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'`);
      return rows.length > 0;
    }, CATCH_UP_MS_MAX);
  }
}

export function urlOf(...servers: PostgresServer[]): string {
  return `postgres://openpit:openpit@${servers.map(({ host }) => host).join(',')}/postgres`;
}

/** A copy of a stopped primary is where its standby begins. */
function copyAsStandby(primary: PostgresServer, standby: PostgresServer): void {
  cpSync(primary.folder, standby.folder, { recursive: true, preserveTimestamps: true });
  makeStandby(standby, primary);
  const { uid, gid } = postgresUser();
  if (uid !== undefined) execFileSync('chown', ['-R', `${uid}:${gid}`, standby.folder]);
  chmodSync(standby.folder, 0o700);
}

/** Has a stopped server follow another one from its next start on. */
function makeStandby(standby: PostgresServer, primary: PostgresServer): void {
  writeFileSync(join(standby.folder, 'standby.signal'), '');
  const source = `host=127.0.0.1 port=${primary.port} user=openpit password=openpit application_name=standby`;
  appendFileSync(join(standby.folder, 'postgresql.conf'), `\nprimary_conninfo = '${source}'\n`);
}
