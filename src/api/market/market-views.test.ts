import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openTestService, type TestService } from '../../../test/support/service.ts';
import { EntityTags } from '../response/etag.ts';
import { MarketViews } from './market-views.ts';

let service: TestService;
beforeAll(async () => {
  service = await openTestService('sqlite');
});
afterAll(() => service.close());

test('a view of megabytes is encoded in turns with requests', async () => {
  const { ledger, core } = service;
  const [known] = await ledger.symbols.list();
  const wordsOf = (i: number) => Array.from({ length: 2_000 }, (_, j) => Bun.hash(`${i} ${j}`)).join(' ');
  const symbols = Array.from({ length: 100 }, (_, i) => ({ ...known!, code: `LONG${i}`, name: wordsOf(i) }));
  await ledger.symbols.upsert(symbols, []);
  await core.follow();
  const views = new MarketViews(core.board, new EntityTags('secret', () => ''));
  const view = await views.get(0, service.clock.now());
  let turns = 0;
  let isDone = false;
  const countTurns = () => {
    turns++;
    if (!isDone) setImmediate(countTurns);
  };
  setImmediate(countTurns);
  const { plain } = await view.only('brief', core.board.catalog.series, []);
  isDone = true;
  expect(plain.length).toBeGreaterThan(4_000_000);
  expect(turns).toBeGreaterThan(1);
});
