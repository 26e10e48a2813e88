import { afterAll, expect, test } from 'bun:test';
import { newLedgerUrl } from '../../../test/support/ledger.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { systemRuntime } from '../fetch/runtime.ts';
import { ecb } from '../providers/ecb.ts';
import { eia } from '../providers/eia.ts';
import { FeedAdmin } from './feed-admin.ts';
import { loadRequestedSample } from './requested-sample.ts';

const clock = { now: () => Date.UTC(2026, 10, 16) };
const ledger = await Ledger.open(await newLedgerUrl('sqlite'), clock);
afterAll(() => ledger.close());

test('the bundle is loaded by one process for each request of an operator', async () => {
  const providers = [eia];
  const parts = (holder: string) => ({
    ledger,
    providers,
    secrets: {},
    runtime: systemRuntime(clock),
    holder,
    signal: new AbortController().signal,
  });
  expect(await loadRequestedSample(parts('one'))).toBe(false);
  await new FeedAdmin(ledger, [...providers, ecb], {}).requestSample(ledger);
  const loaded = await Promise.all([loadRequestedSample(parts('one')), loadRequestedSample(parts('two'))]);
  expect(loaded.filter(Boolean)).toHaveLength(1);
  const [run] = await ledger.feeds.history(1, 'eia');
  expect(run).toMatchObject({ status: 'ok', taken: 37_506 });
  expect(await loadRequestedSample(parts('one'))).toBe(false);
}, 120_000);
