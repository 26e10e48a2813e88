import { expect, test } from 'bun:test';
import { apiOn } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { MINUTE } from '../../support/service.ts';

const HOUR = 60 * MINUTE;

onEachEngine('a wall clock that is changed', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.setPlan({ name: 'hour', delaySeconds: 3600 });
  });
  const setups = [
    { by: HOUR, how: 'forward by an hour' },
    { by: 24 * HOUR, how: 'forward by a day' },
    { by: -HOUR, how: 'back by an hour, and forward again' },
    { by: -24 * HOUR, how: 'back by a day, and forward again' },
  ];

  for (const [i, { by, how }] of setups.entries()) {
    const [tick, bar] = [7_001 + i, 8_001 + i]; // not used by other tests
    const young = new RegExp(`${tick}|${bar}`);
    test(`${how}: a delay of an hour is an hour, everywhere`, async () => {
      const { service } = api;
      const { clock, core } = service;
      const key = await service.key('hour');
      const now = () => clock.now();
      const latest = async () => (await api.ask('/rates/latest?symbols=XAU&metadata=false', { key })).body;
      const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
      const everything = async () => {
        const paths = ['latest?symbols=XAU'];
        for (const day of [dayOf(now()), dayOf(now() - 24 * HOUR)]) {
          for (const about of ['historical', 'revisions']) paths.push(`${about}?symbols=XAU&date=${day}`);
          paths.push(`historical?symbols=XAU&date=${day}&asOf=${dayOf(now())}`);
        }
        const answers = await Promise.all(paths.map((path) => api.ask(`/rates/${path}`, { key })));
        return answers.map(({ text }) => text).join('\n');
      };
      await service.tick('XAU', 1_000, now());
      clock.time += HOUR;
      await core.follow();
      expect(await latest()).toMatchObject({ rates: { XAU: 1_000 } });

      if (by < 0) clock.setBy += by;
      await service.tick('XAU', tick, now());
      await service.publish('XAU', { [dayOf(now())]: bar }, 'test', now());
      clock.setBy += Math.abs(by);
      for (let passed = 0; passed < HOUR; passed += 10 * MINUTE) {
        const said = await everything();
        expect(said).not.toMatch(young);
        await core.follow();
        expect(await everything()).not.toMatch(young);
        clock.time += 10 * MINUTE;
      }
      await core.follow();
      expect(await everything()).toMatch(young);
      clock.time += 48 * HOUR;
    });
  }

  test('a plan without a delay sees a new price at once, before and after a step', async () => {
    const { service } = api;
    const key = await service.key();
    const latest = async () => (await api.ask('/rates/latest?symbols=XAG', { key })).body;
    for (const by of [0, 24 * HOUR, -24 * HOUR, HOUR]) {
      service.clock.setBy += by;
      service.clock.time += 25 * HOUR;
      await service.tick('XAG', 30 + by / HOUR, service.clock.now());
      expect(await latest()).toMatchObject({ rates: { XAG: 30 + by / HOUR } });
    }
  });
});
