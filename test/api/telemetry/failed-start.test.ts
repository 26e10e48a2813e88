import { expect, test } from 'bun:test';
import { existsSync, mkdirSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SQL } from 'bun';
import { readConfig } from '../../../src/config.ts';
import { isInUse } from '../../../src/gate/spool/in-use.ts';
import { writeSealed } from '../../../src/gate/spool/sealed-json.ts';
import { HEADER_BYTES } from '../../../src/gate/spool/spool-file.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { createLog } from '../../../src/runtime/log/log.ts';
import { openCore } from '../../../src/service/core.ts';
import { startService } from '../../../src/service.ts';
import { readyLedgerUrl } from '../../support/database/ready-ledger.ts';
import { type EngineName, newFolder, onEachEngine } from '../../support/ledger.ts';
import { eventually } from '../../support/program.ts';

const log = createLog('error', systemClock, () => {});

onEachEngine('a start that fails', (engine) => {
  async function settings(own: Record<string, string> = {}) {
    const url = await readyLedgerUrl(engine);
    const databaseUrl = engine === 'sqlite' ? `sqlite://${url}` : url;
    const base = { OPENPIT_DATABASE_URL: databaseUrl, OPENPIT_DATA_DIR: newFolder(), OPENPIT_DEMO: 'false' };
    const env = { ...base, ...own };
    return { url, config: readConfig(env, {}) };
  }

  test('because of an unknown plan closes the ledger', async () => {
    const { url, config } = await settings({ OPENPIT_PUBLIC_PLAN: 'none-such' });
    await expect(openCore(config, systemClock, log)).rejects.toThrow('OPENPIT_PUBLIC_PLAN');
    await expectClosed(engine, url, config.dataDir);
  });

  test('because of an unreadable spool closes the ledger and keeps the spool', async () => {
    const { url, config } = await settings();
    const spool = join(config.dataDir, 'spool');
    mkdirSync(spool, { recursive: true });
    const newer = new Uint8Array(HEADER_BYTES);
    writeSealed(newer, { version: 99, endpoints: [] });
    writeFileSync(join(spool, '0-0.v99.spool'), newer);
    await expect(openCore(config, systemClock, log)).rejects.toThrow('run the newer openpit');
    await expectClosed(engine, url, config.dataDir);
    expect(readdirSync(spool)).toContain('0-0.v99.spool');
  });

  test('because the port is in use closes everything, so that the next start succeeds', async () => {
    const taken = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
    const { url, config } = await settings({ OPENPIT_HOST: '127.0.0.1', OPENPIT_PORT: String(taken.port) });
    await expect(startService(config, systemClock, log)).rejects.toThrow('another program listens');
    await expectClosed(engine, url, config.dataDir);
    taken.stop(true);
    const service = await startService({ ...config, port: 0 }, systemClock, log);
    await service.ready;
    await service.stop();
    await expectClosed(engine, url, config.dataDir);
  });
});

/** Whether this process holds neither the ledger nor a slot of the spool. */
async function expectClosed(engine: EngineName, url: string, dataDir: string): Promise<void> {
  expect(isInUse(join(dataDir, 'spool'))).toBe(false);
  await eventually(async () => (await handlesOn(engine, url)) === 0); // PostgreSQL notices a moment later
}

async function handlesOn(engine: EngineName, url: string): Promise<number> {
  if (engine === 'sqlite') return openFiles().filter((path) => path.startsWith(url)).length;
  const { pathname } = new URL(url);
  const admin = new SQL(Object.assign(new URL(url), { pathname: '/postgres' }).href, { max: 1 });
  const [row] = await admin`SELECT count(*) AS n FROM pg_stat_activity WHERE datname = ${pathname.slice(1)}`;
  await admin.close();
  return Number(row.n);
}

/** Only Linux provides this. */
function openFiles(): string[] {
  const folder = '/proc/self/fd';
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((fd) => {
    try {
      return readlinkSync(join(folder, fd));
    } catch {
      return []; // closed in the meantime
    }
  });
}
