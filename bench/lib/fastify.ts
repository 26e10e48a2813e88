import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { childrenOf } from '../../test/support/child-processes.ts';
import { ownPostgres } from '../../test/support/postgres.ts';
import { ROOT, SERVER_CORE, targetOf } from './openpit.ts';
import { startPinned, type Target } from './process.ts';

/** Fastify is a dependency of the benchmarks only. */
export const HAS_FASTIFY = existsSync(join(ROOT, 'bench/node_modules/fastify'));

/** A conventional service on SQLite. */
export async function startFastifySqlite(): Promise<Target> {
  const dir = mkdtempSync(join(tmpdir(), 'openpit-bench-fastify-'));
  const target = await start('Fastify + SQLite', ['sqlite', join(dir, 'rates.db')]);
  return { ...target, stop: () => target.stop().finally(() => rmSync(dir, { recursive: true })) };
}

/** A conventional service on PostgreSQL. The CPU time of PostgreSQL counts as its own. */
export async function startFastifyPostgres(): Promise<Target> {
  const postgres = await ownPostgres();
  const target = await start('Fastify + PostgreSQL', ['postgres', postgres.url]);
  const { port } = new URL(postgres.url);
  const postmaster = Bun.spawnSync(['pgrep', '-f', `postgres.*-p ${port}`])
    .stdout.toString()
    .trim();
  return {
    ...target,
    pids: [...target.pids, ...postmaster.split('\n').map(Number).flatMap(childrenOf)],
    stop: () => target.stop().finally(() => postgres.remove()),
  };
}

async function start(name: string, args: readonly string[]): Promise<Target> {
  const command = ['bun', join(ROOT, 'bench/targets/fastify.ts'), ...args];
  const { child, match } = await startPinned(command, { core: SERVER_CORE, until: /listens on (\S+) with/ });
  return targetOf(name, match[1]!, child);
}
