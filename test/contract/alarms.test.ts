import { expect, test } from 'bun:test';
import { type Alarm, Alarms } from '../../src/alarms.ts';
import type { Webhook } from '../../src/gate/webhook.ts';
import { createLog } from '../../src/log.ts';
import { onEachEngine } from '../support/ledger.ts';
import { fixedClock, ledgersOf, unique } from '../support/ledgers.ts';

onEachEngine('alarms', (engine) => {
  const ledgers = ledgersOf(engine);

  test('of ten replicas that see it at once, one tells it, and tells the next occasion too', async () => {
    const [a, b] = await ledgers.pair();
    const name = unique('alarm');
    for (const about of ['monday', 'tuesday']) {
      const claims = Array.from({ length: 10 }, (_, i) => (i % 2 ? a : b).alarms.claim(name, about, 60_000));
      expect((await Promise.all(claims)).filter((claim) => claim === 'mine')).toHaveLength(1);
      await a.alarms.told(name, about);
      expect(await b.alarms.claim(name, about, 60_000)).toBe('told');
    }
  });

  test('a replica that took it on and said nothing is followed by another', async () => {
    const ledger = await ledgers.shared();
    const name = unique('alarm');
    expect(await ledger.alarms.claim(name, 'once', -1)).toBe('mine');
    expect(await ledger.alarms.claim(name, 'once', 60_000)).toBe('mine');
    expect(await ledger.alarms.claim(name, 'once', 60_000)).toBe('taken');
  });

  test('it is logged once when it begins and once when it is over, and posted until the receiver takes it', async () => {
    const ledger = await ledgers.shared();
    const alarm: Alarm = { name: unique('alarm'), about: '1', event: { type: 'test' } };
    const lines: string[] = [];
    const log = createLog('info', fixedClock, (line) => lines.push(JSON.parse(line).event));
    let current = [alarm];
    const posts: string[] = [];
    const webhook = { send: async (id: string) => void posts.push(id) } as unknown as Webhook;
    const alarms = new Alarms(() => current, ledger.alarms, log, webhook);
    for (let turn = 0; turn < 3; turn++) await alarms.turn();
    current = [];
    for (let turn = 0; turn < 3; turn++) await alarms.turn();
    expect(lines).toEqual(['alarm', 'alarm is over']);
    expect(posts).toEqual([`${alarm.name}.1`]);
  });

  test('a ledger that cannot be written to does not keep it back', async () => {
    const ledger = await ledgers.new();
    await ledger.engine.write((tx) => tx.unsafe('ALTER TABLE meta RENAME TO hidden'));
    const posts: string[] = [];
    const webhook = { send: async (id: string) => void posts.push(id) } as unknown as Webhook;
    const log = createLog('error', fixedClock, () => {});
    const current = [{ name: 'disk.full', about: '7', event: { type: 'disk.full' } }];
    await new Alarms(() => current, ledger.alarms, log, webhook).turn();
    expect(posts).toEqual(['disk.full.7']);
  });
});
