import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { hashKey } from '../gate/key.ts';
import { issueKey } from '../gate/onboarding.ts';
import { isActive } from '../ledger/accounts/keys.ts';
import { createPrivate } from '../ledger/engine/sqlite/private-file.ts';
import type { Ledger } from '../ledger/ledger.ts';

const DEMO_ACCOUNT = 'acc_demo';
const KEY_FILE = 'demo-key';

/**
 * Whether to simulate prices: as the setting says, or else on a new, empty SQLite ledger and at every later start on
 * that ledger.
 */
export async function decideDemo(config: Config, ledger: Ledger): Promise<boolean> {
  if (config.demo !== 'auto') {
    if (config.demo === 'on') await ledger.setMeta('demo', 'on');
    return config.demo === 'on';
  }
  if ((await ledger.meta('demo')) === 'on') return true;
  if (config.databaseGiven || !(await ledger.isEmpty())) return false;
  await ledger.setMeta('demo', 'on');
  return true;
}

/** The demo account's key, stored in a file that only its owner can read. A lost or revoked key is replaced. */
export async function demoKey(config: Config, ledger: Ledger, now: number): Promise<string> {
  const path = join(config.dataDir, KEY_FILE);
  if (existsSync(path)) {
    const stored = readFileSync(path, 'utf8').trim();
    const known = await ledger.accounts.byKeyHash(hashKey(stored));
    if (known && isActive(known.key, now)) return stored;
  }
  await ledger.accounts.ensure({
    id: DEMO_ACCOUNT,
    name: 'Demo',
    plan: 'demo',
    status: 'active',
    createdAt: now,
  });
  const issued = await issueKey(ledger, DEMO_ACCOUNT, {}, now);
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  createPrivate(path);
  writeFileSync(path, `${issued.text}\n`);
  return issued.text;
}
