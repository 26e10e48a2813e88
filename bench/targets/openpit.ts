/**
 * The service itself, in one process: `bun targets/openpit.ts DATA_DIR counted|uncounted`. Uncounted, everything but the
 * meter is the same: it is there to measure what counting costs.
 */
import { listen } from '../../src/api/server.ts';
import { readConfig } from '../../src/config.ts';
import { Meter } from '../../src/gate/meter/meter.ts';
import { createAccount } from '../../src/gate/onboarding.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { createLog } from '../../src/runtime/log/log.ts';
import { openCore } from '../../src/service/core.ts';

const [dataDir = '', mode] = process.argv.slice(2);
if (mode === 'uncounted') {
  const spent = { ok: true as const, remaining: 1_000 };
  Meter.prototype.spend = () => spent;
  Meter.prototype.known = () => ({ ...spent, quota: 1_000 });
}
const config = readConfig({ OPENPIT_DATA_DIR: dataDir, OPENPIT_DEMO: 'true' }, {});
const log = createLog('warn', systemClock, (line) => process.stderr.write(line));
const core = await openCore(config, systemClock, log);
core.phase = 'ready';
const { issued } = await createAccount(core.ledger, { name: 'Bench', plan: 'unlimited' }, systemClock.now());
await core.follow();
setInterval(() => void core.follow(), 200);
console.log(`listens on ${listen(core.api, { hostname: '127.0.0.1', port: 0 }).url} with ${issued.text}`);
