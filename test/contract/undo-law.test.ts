import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { Closer } from '../../src/feeds/close/closer.ts';
import { Pruner } from '../../src/feeds/close/pruner.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { ALWAYS } from '../../src/ledger/prices/bars.ts';
import { importName, noteRevision } from '../../src/ledger/prices/imports.ts';
import { TICKS_KEPT_MS } from '../../src/ledger/ticks/tick-pruning.ts';
import { marketOf, sessionEnd, tradeDate } from '../../src/market/session.ts';
import { onEachEngine } from '../support/ledger.ts';
import { flat, ledgersOf, NOW, newSymbol } from '../support/ledgers.ts';

const HOUR = 3_600_000;
/** The longest delay included. */
const KEPT_MS = TICKS_KEPT_MS + 24 * HOUR;

const price = fc.integer({ min: 1, max: 4 }); // so few that different ticks often make the same bar
const share = fc.integer({ min: 0, max: 100 });
const madeAt = fc.oneof(share, fc.constant(100)); // ticks are rarely late
const STEPS = fc.array(
  fc.record({
    waitMs: fc.integer({ min: 1, max: 3 * HOUR }),
    step: fc.oneof(
      { weight: 4, arbitrary: fc.record({ kind: fc.constant('tick' as const), price, madeAt }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('end' as const) }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('close' as const) }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('withdraw' as const) }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('revert' as const) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('correct' as const), price }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('import' as const), price }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('undo' as const), which: share }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('prune' as const) }) },
    ),
  }),
  { minLength: 3, maxLength: 20 },
);
type Step = (typeof STEPS extends fc.Arbitrary<(infer S)[]> ? S : never)['step'];

/** A change that is not undone. */
interface Change {
  by: 'operator' | number;
  recordedAt: number;
  /** Undefined for a withdrawal. */
  price: number | undefined;
}

onEachEngine('a day', (engine) => {
  const ledgers = ledgersOf(engine);

  test('ends as if the changes that were undone had never been made', async () => {
    const ledger = await ledgers.shared();
    const closer = new Closer(ledger);
    const property = fc.asyncProperty(STEPS, async (steps) => {
      const run = await openRun(ledger, closer);
      for (const { waitMs, step } of steps) {
        await run.take(step, waitMs);
        const { derived, read } = await run.withdrawnUntil();
        expect(read).toBe(derived);
      }
      expect(await run.finish()).toEqual(run.expected());
    });
    await fc.assert(property, { numRuns: engine === 'sqlite' ? 150 : 30 });
  });
});

async function openRun(ledger: Ledger, closer: Closer) {
  const { id: symbolId, market: name } = await newSymbol(ledger);
  const market = marketOf(name);
  const day = tradeDate(market, NOW);
  const end = sessionEnd(market, day);
  const days = [{ symbolId, day }];
  const ticks: { at: number; received: number; price: number }[] = [];
  let changes: Change[] = [];
  const imports: number[] = [];
  let now = NOW;
  let isPruned = false;

  async function take(step: Step, waitMs: number): Promise<void> {
    now += waitMs;
    const recordedAt = now;
    if (step.kind === 'end') now = Math.max(now, end);
    else if (step.kind === 'prune') {
      if (changes.some((one) => one.price === undefined)) return; // hidden ticks are deleted, too
      now = Math.max(now, end) + KEPT_MS;
      await closer.close(now);
      await new Pruner(ledger).prune(now);
      isPruned = true;
    } else if (step.kind === 'tick') {
      if (isPruned) return; // a late tick alone does not make up a day
      const first = NOW - HOUR;
      const last = Math.min(now, end + HOUR - 1); // the next session opens an hour later
      const at = Math.round(first + ((last - first) * step.madeAt) / 100) - ticks.length;
      const one = { at, received: now, price: step.price };
      ticks.push(one);
      await ledger.ticks.append([{ ...one, symbolId, id: `${ticks.length}` }], 'desk');
    } else if (step.kind === 'close') await closer.close(now);
    else if (step.kind === 'withdraw') {
      const why = { by: 'operator', reason: 'wrong', recordedAt } as const;
      const withdrawn = await ledger.withdrawals.withdraw(days, why);
      if (withdrawn.length > 0) changes.push({ by: 'operator', recordedAt, price: undefined });
    } else if (step.kind === 'correct') {
      const bar = { symbolId, day, ...flat(step.price) };
      const { unchanged } = await ledger.corrections.correct(bar, { reason: 'typo', recordedAt });
      if (unchanged === 0) changes.push({ by: 'operator', recordedAt, price: step.price });
    } else if (step.kind === 'revert') {
      const reverted = await ledger.corrections.revert(days, { reason: 'was right', recordedAt });
      const last = changes.findLast(({ by }) => by === 'operator');
      if (reverted.length > 0) changes = changes.filter((one) => one !== last);
    } else if (step.kind === 'import') {
      const number = await ledger.imports.begin('prices.csv', 'file', now);
      const { unchanged } = await ledger.bars.publish([{ symbolId, day, ...flat(step.price) }], {
        ...{ source: 'file', recordedAt },
        after: (tx, revision) => noteRevision(tx, importName(number), revision),
      });
      imports.push(number);
      if (unchanged === 0) changes.push({ by: number, recordedAt, price: step.price });
    } else if (imports.length > 0) {
      const [number] = imports.splice(Math.floor((step.which * (imports.length - 1)) / 100), 1);
      await ledger.imports.undo(number!, now, () => {});
      changes = changes.filter(({ by }) => by !== number);
    }
  }

  return {
    take,
    /** What the ledger reads in one statement for many days, and what it derives from the revisions of one. */
    async withdrawnUntil() {
      const always = { ended: Number.MAX_SAFE_INTEGER, running: Number.MAX_SAFE_INTEGER };
      const asked = [{ symbolId, lastEnded: day }];
      const [counted] = await ledger.past.tickDays(asked, 'real', always, Number.MAX_SAFE_INTEGER);
      const current = (await ledger.bars.revisions(symbolId, 'real', day, day)).at(-1);
      const derived = current?.ticksWithdrawnUntil ?? ALWAYS;
      return { derived, read: counted?.after ?? derived }; // a day without ticks that count is not read
    },
    /** The prices of the day once every plan sees its last tick. */
    async finish() {
      await closer.close(Math.max(now, end) + 24 * HOUR);
      const current = (await ledger.bars.revisions(symbolId, 'real', day, day)).at(-1);
      if (!current || current.withdrawn) return undefined;
      const { open, high, low, close } = current;
      return { open, high, low, close };
    },
    expected() {
      const last = changes.at(-1);
      if (last?.price !== undefined) return flat(last.price);
      const until = changes.findLast((one) => one.price === undefined)?.recordedAt ?? 0;
      const counted = ticks.filter(({ received }) => received > until).sort((a, b) => a.at - b.at);
      if (counted.length === 0) return undefined;
      const prices = counted.map((one) => one.price);
      const [low, high] = [Math.min(...prices), Math.max(...prices)];
      return { open: prices[0]!, high, low, close: prices.at(-1)! };
    },
  };
}
