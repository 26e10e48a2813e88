import { expect, test } from 'bun:test';
import { Closer } from '../../../src/feeds/close/closer.ts';
import { Pruner } from '../../../src/feeds/close/pruner.ts';
import { MS_PER_DAY, parseDay } from '../../../src/market/day.ts';
import { apiOn, type Json } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { symbolOf } from '../../support/ledgers.ts';

const DATE = '2024-05-14';
const made = (time: string) => Date.parse(`${DATE}T${time}:00Z`);

onEachEngine('the minutes of a day', (engine) => {
  const api = apiOn(engine);
  const minutes = async (code: string, key = api.key) => {
    const range = `startDate=${DATE}&endDate=${DATE}&interval=minute`;
    const reply = await api.ask(`/rates/history?symbols=${code}&${range}`, { key });
    return ((reply.body.rates ?? []) as Json[]).map(({ close }) => close);
  };
  const daysOf = async (code: string) => [
    { symbolId: (await symbolOf(api.service.ledger, code)).id, day: parseDay(DATE)! },
  ];
  const withdraw = async (code: string, recordedAt: number) => {
    const why = { by: 'operator', reason: 'wrong', recordedAt } as const;
    await api.service.ledger.withdrawals.withdraw(await daysOf(code), why);
    await api.service.core.follow();
  };
  const revert = async (code: string, recordedAt: number) => {
    await api.service.ledger.corrections.revert(await daysOf(code), { reason: 'was right', recordedAt });
    await api.service.core.follow();
  };
  const prune = async () => {
    const { ledger, core, clock } = api.service;
    await new Closer(ledger).close(clock.time);
    await new Pruner(ledger).prune(clock.time + 10 * MS_PER_DAY); // stores the minutes, and deletes the ticks
    await core.follow();
  };

  test('are shown again when its withdrawal is taken back, also once its ticks are deleted', async () => {
    const { service } = api;
    for (const [code, hasFeedBar] of [
      ['XAU', false],
      ['XAG', true],
    ] as const) {
      await service.tick(code, 20, made('10:00'));
      await service.tick(code, 21, made('10:05'));
      if (hasFeedBar) await service.publish(code, { [DATE]: 22 }, 'feed', made('22:00'));
      await new Closer(service.ledger).close(made('22:00'));
      await service.core.follow();
      expect(await minutes(code)).toEqual([20, 21]);
      await withdraw(code, made('22:01'));
      expect(await minutes(code), code).toEqual([]);
      await revert(code, made('22:02'));
      expect(await minutes(code), code).toEqual([20, 21]);
      await prune();
      expect(await minutes(code), code).toEqual([20, 21]);
      await withdraw(code, made('22:01') + 11 * MS_PER_DAY);
      expect(await minutes(code), code).toEqual([]);
      await revert(code, made('22:02') + 11 * MS_PER_DAY);
      expect(await minutes(code), code).toEqual([20, 21]);
    }
  });

  test('with a withdrawal that stands, are those of later ticks when another one is taken back', async () => {
    const { service } = api;
    await service.tick('PL', 900, made('10:00'));
    await new Closer(service.ledger).close(made('22:00'));
    await withdraw('PL', made('22:01'));
    await service.tick('PL', 950, made('10:05'), made('22:02'));
    await new Closer(service.ledger).close(made('22:03'));
    await withdraw('PL', made('22:04'));
    await revert('PL', made('22:05'));
    expect(await minutes('PL')).toEqual([950]);
    await prune();
    expect(await minutes('PL')).toEqual([950]);
  });

  test('are hidden from a delayed plan as soon as its bar is, also once its ticks are deleted', async () => {
    const { service } = api;
    await service.setPlan({ name: 'hour', delaySeconds: 3600 });
    const hour = await service.key('hour');
    await service.publish('PA', { '2024-05-13': 5 });
    await service.tick('PA', 900, made('10:00'));
    await new Closer(service.ledger).close(made('22:00'));
    await prune();
    expect(await minutes('PA', hour)).toEqual([900]);
    await withdraw('PA', service.clock.time);
    expect(await minutes('PA', hour)).toEqual([]);
    expect(await minutes('PA')).toEqual([]);
  });
});
