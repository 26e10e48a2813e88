import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { childrenOf } from '../../test/support/child-processes.ts';
import { startPinned, type Target } from './process.ts';

export const ROOT = join(import.meta.dir, '..', '..');
const DATA_DIR = join(ROOT, 'bench', 'data');
export const SERVER_CORE = 0;

/** A folder with the demo's history, made on the first run. */
export async function demoData(): Promise<string> {
  if (!existsSync(join(DATA_DIR, 'openpit.db'))) {
    mkdirSync(DATA_DIR, { recursive: true });
    await (await startOpenpit(DATA_DIR)).target.stop();
  }
  return DATA_DIR;
}

/** The program of a checkout, with a key on the plan `unlimited`. */
export async function startOpenpit(dataDir: string, root = ROOT): Promise<{ target: Target; key: string }> {
  const key = createKey(dataDir, {}, root);
  return { key, target: await startProgram(dataDir, {}, SERVER_CORE, root) };
}

/** A key of a new account on the plan `unlimited`. */
export function createKey(dataDir: string, env: Record<string, string> = {}, root = ROOT): string {
  const flags = ['--name', 'Bench', '--plan', 'unlimited', '--json', '--data-dir', dataDir];
  const command = ['bun', join(root, 'src/main.ts'), 'account', 'create', ...flags];
  const { stdout } = Bun.spawnSync(command, { env: { ...process.env, ...env } });
  return (JSON.parse(stdout.toString()) as { key: string }).key;
}

export async function startProgram(
  dataDir: string,
  more: Record<string, string> = {},
  core: number | '0-1' = SERVER_CORE,
  root = ROOT,
): Promise<Target> {
  const env = { OPENPIT_DATA_DIR: dataDir, OPENPIT_PORT: '0', OPENPIT_LOG_LEVEL: 'warn', ...more };
  const command = ['bun', join(root, 'src/main.ts'), 'serve'];
  const isMany = Number(more.OPENPIT_PROCESSES ?? 1) > 1;
  const until = isMany ? /listens on (http:[^\s,]+)[\s\S]*Processes:/ : /listens on (http:[^\s,]+)/;
  const { child, match } = await startPinned(command, { core, until, env });
  const target = targetOf('openpit', match[1]!, child);
  return isMany ? { ...target, pids: [child.pid, ...childrenOf(child.pid)] } : target;
}

/** The service with or without its meter. */
export async function startMode(
  dataDir: string,
  mode: 'counted' | 'uncounted',
): Promise<{ target: Target; key: string }> {
  const command = ['bun', join(ROOT, 'bench/targets/openpit.ts'), dataDir, mode];
  const { child, match } = await startPinned(command, {
    core: SERVER_CORE,
    until: /listens on (\S+) with (\S+)/,
  });
  return { key: match[2]!, target: targetOf(mode, match[1]!, child) };
}

export async function startBare(body: string, headers: Record<string, string>): Promise<Target> {
  const command = ['bun', join(ROOT, 'bench/targets/bare.ts'), JSON.stringify({ body, headers })];
  const { child, match } = await startPinned(command, { core: SERVER_CORE, until: /listens on (\S+)\// });
  return targetOf('bare Bun handler', match[1]!, child);
}

export function targetOf(name: string, url: string, child: Bun.Subprocess): Target {
  return {
    name,
    url,
    pids: [child.pid],
    async stop() {
      child.kill('SIGTERM');
      await child.exited;
    },
  };
}
