import { expect, test } from 'bun:test';
import type { Columns } from '../../../src/board/series/bars/columns.ts';
import { parseDay, printDay } from '../../../src/market/day.ts';
import { apiOn } from '../../support/api.ts';

const CODES = ['XAU', 'XAG', 'ZINC', 'PA', 'PL', 'WTIOIL-FUT'];
const FIRST = parseDay('1995-01-02')!;
/** For six symbols this is twice the memory budget. */
const DAYS = 9_000;
const ROUNDS = 10;

const api = apiOn(
  'sqlite',
  { settings: { OPENPIT_HISTORY_MB: '1' }, logLevel: 'info' },
  async ({ service }) => {
    const days = Object.fromEntries(Array.from({ length: DAYS }, (_, i) => [printDay(FIRST + i), i + 0.5]));
    for (const code of CODES) await service.publish(code, days);
  },
);

test('an evicted history is garbage-collected, even if JSON was cached for it', async () => {
  const { board } = api.service.core;
  const view = board.view(0);
  const seen = new WeakSet<Columns>();
  const histories: WeakRef<Columns>[] = [];
  const look = (code: string) => {
    const { columns } = board.catalog.find(code)!.histories!.visible(view.index)!.settled;
    if (seen.has(columns!)) return;
    seen.add(columns!);
    histories.push(new WeakRef(columns!));
  };
  for (let round = 0; round < ROUNDS; round++) {
    for (const code of CODES) {
      // Extra commas make another symbol set of the same symbol. It is cached on its second request.
      const symbols = `${code}${','.repeat(round)}`;
      for (const month of ['03', '04', '05']) {
        const range = `startDate=2019-${month}-01&endDate=2019-${month}-30`;
        const { status, text } = await api.ask(`/rates/time-series?symbols=${symbols}&${range}`);
        expect(status).toBe(200);
        expect(text).toContain(`"2019-${month}-15":{"${code}":{"open":`);
      }
      look(code);
    }
  }
  expect(histories.length).toBeGreaterThan(ROUNDS * 3); // they were evicted and reloaded repeatedly
  // Those in use stay alive, and so may some others: the conservative collector scans the stack for possible addresses.
  const alive = () => histories.filter((one) => one.deref() !== undefined).length;
  for (let i = 0; i < 20 && alive() > histories.length / 3; i++) {
    await Bun.sleep(10); // the target of a WeakRef stays alive until the end of the turn
    Bun.gc(true);
  }
  expect(alive()).toBeLessThanOrEqual(histories.length / 3);
}, 180_000);
