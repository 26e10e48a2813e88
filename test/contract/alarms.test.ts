import { expect, test } from 'bun:test';
import type { Webhook } from '../../src/gate/webhook.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { AlarmStore } from '../../src/ledger/operations/alarms.ts';
import { type ActiveAlarm, AlarmReporter, type AlarmReporterOptions } from '../../src/ops/alarms.ts';
import { createLog, type Log } from '../../src/runtime/log/log.ts';
import { onEachEngine } from '../support/ledger.ts';
import { fixedClock, ledgersOf, unique } from '../support/ledgers.ts';

onEachEngine('alarms', (engine) => {
  const ledgers = ledgersOf(engine);

  test('of ten replicas that notice it at once, one reports it, and also its next occurrence', async () => {
    const [a, b] = await ledgers.pair();
    const name = unique('alarm');
    for (const about of ['monday', 'tuesday']) {
      const claims = Array.from({ length: 10 }, (_, i) => (i % 2 ? a : b).alarms.claim(name, about, 60_000));
      expect((await Promise.all(claims)).filter((claim) => claim === 'claimed')).toHaveLength(1);
      await a.alarms.markDelivered(name, about);
      expect(await b.alarms.claim(name, about, 60_000)).toBe('delivered');
    }
  });

  test('a replica that took it on and said nothing is followed by another', async () => {
    const ledger = await ledgers.shared();
    const name = unique('alarm');
    expect(await ledger.alarms.claim(name, 'once', -1)).toBe('claimed');
    expect(await ledger.alarms.claim(name, 'once', 60_000)).toBe('claimed');
    expect(await ledger.alarms.claim(name, 'once', 60_000)).toBe('taken');
  });

  test('it is logged once when it begins and once when it is over, and posted until the receiver takes it', async () => {
    const ledger = await ledgers.shared();
    const alarm: ActiveAlarm = { name: unique('alarm'), occurrence: '1', event: { type: 'test' } };
    const lines: object[] = [];
    const log = createLog('info', fixedClock, (line) => lines.push(JSON.parse(line)));
    let current = [alarm];
    const posts: string[] = [];
    const webhook = { send: async (id: string) => void posts.push(id) } as unknown as Webhook;
    let now = 1_000_000;
    const alarms = alarmsOf(ledger, log, webhook, { current: () => current, clock: { now: () => now } });
    for (let i = 0; i < 3; i++) await alarms.run();
    current = [];
    now += 90_000;
    for (let i = 0; i < 9; i++, now += 1_000) await alarms.run();
    expect(lines).toMatchObject([
      { event: 'alarm' },
      { event: 'alarm is over', name: alarm.name, seconds: 90 },
    ]);
    expect(posts).toEqual([`${alarm.name}.1`, `${alarm.name}.1.over`]);
  });

  test('one that ends and returns within seconds is one alarm, and one that goes on under another occurrence is reported again', async () => {
    const ledger = await ledgers.shared();
    const name = unique('alarm');
    const lines: { event: string }[] = [];
    const log = createLog('info', fixedClock, (line) => lines.push(JSON.parse(line)));
    const posts: string[] = [];
    const webhook = { send: async (id: string) => void posts.push(id) } as unknown as Webhook;
    let current: ActiveAlarm[] = [];
    let now = 1_000_000;
    const alarms = alarmsOf(ledger, log, webhook, { current: () => current, clock: { now: () => now } });
    const seconds = async (count: number, occurrence?: string) => {
      current = occurrence === undefined ? [] : [{ name, occurrence, event: { type: 'test' } }];
      for (let i = 0; i < count; i++, now += 1_000) await alarms.run();
    };
    await seconds(3, '1');
    await seconds(4);
    await seconds(3, '2');
    await seconds(9);
    expect(lines).toMatchObject([{ event: 'alarm' }, { event: 'alarm is over', name, seconds: 10 }]);
    expect(posts).toEqual([`${name}.1`, `${name}.1.over`]);
    await seconds(3, '3');
    await seconds(3, '4');
    expect(lines.slice(2)).toMatchObject([{ event: 'alarm' }, { event: 'alarm' }]);
    expect(posts.slice(2)).toEqual([`${name}.3`, `${name}.4`]);
  });

  test('a ledger that cannot be written to does not keep it back', async () => {
    const ledger = await ledgers.new();
    await ledger.engine.write((tx) => tx.unsafe('ALTER TABLE meta RENAME TO hidden'));
    const posts: string[] = [];
    const webhook = { send: async (id: string) => void posts.push(id) } as unknown as Webhook;
    const log = createLog('error', fixedClock, () => {});
    const current = [{ name: 'disk.full', occurrence: '7', event: { type: 'disk.full' } }];
    await alarmsOf(ledger, log, webhook, { current: () => current }).run();
    expect(posts).toEqual(['disk.full.7']);
  });

  test('while the ledger is known to be unreachable it is not asked', async () => {
    const ledger = await ledgers.new();
    const store = { claim: () => new Promise(() => {}), markDelivered: () => new Promise(() => {}) };
    const posts: string[] = [];
    const webhook = { send: async (id: string) => void posts.push(id) } as unknown as Webhook;
    const log = createLog('error', fixedClock, () => {});
    const current = [{ name: 'ledger.unreachable', occurrence: '3', event: { type: 'ledger.unreachable' } }];
    const alarms = alarmsOf(ledger, log, webhook, {
      current: () => current,
      store: store as unknown as AlarmStore,
      isStoreReachable: () => false,
    });
    await alarms.run();
    expect(posts).toEqual(['ledger.unreachable.3']);
  });

  test('the outages that replicas record are counted once each', async () => {
    const [a, b] = await ledgers.pair();
    expect(await a.alarms.outages()).toBe(0);
    await Promise.all([a.alarms.recordOutage(1), b.alarms.recordOutage(1)]);
    expect(await b.alarms.outages()).toBe(1);
    await a.alarms.recordOutage(12);
    await b.alarms.recordOutage(2); // a replica that was cut off for longer
    expect(await a.alarms.outages()).toBe(12);
  });
});

function alarmsOf(
  ledger: Ledger,
  log: Log,
  webhook: Webhook,
  options: Partial<AlarmReporterOptions> & Pick<AlarmReporterOptions, 'current'>,
): AlarmReporter {
  return new AlarmReporter({
    store: ledger.alarms,
    isStoreReachable: () => true,
    clock: fixedClock,
    log,
    webhook,
    ...options,
  });
}
