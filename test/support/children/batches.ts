import type { Ledger } from '../../../src/ledger/ledger.ts';

/** Work for concurrent writers. Each batch is identified by its writer's name and its number, so that none can get lost unnoticed. */
const TICKS_PER_BATCH = 3;

const AT = Date.parse('2026-07-15T14:00:00Z');
const FIRST_DAY_OF_BATCHES = 10_000;
const SYMBOL_ID = 1;

/** Some ticks, a bar of a separate day, a bar of a day that all writers write, and an account. */
export async function writeBatch(ledger: Ledger, writer: string, batch: number): Promise<void> {
  const ticks = tickIds(writer, batch).map((id, n) => ({
    symbolId: SYMBOL_ID,
    id,
    at: AT + n,
    received: AT + n,
    price: batch + n / 100,
  }));
  await ledger.ticks.append(ticks, writer);
  const price = batch + 0.5;
  const prices = { symbolId: SYMBOL_ID, open: price, high: price, low: price, close: price };
  await ledger.bars.publish(
    [
      { ...prices, day: FIRST_DAY_OF_BATCHES - 1 },
      { ...prices, day: FIRST_DAY_OF_BATCHES + batch },
    ],
    { source: writer, recordedAt: AT },
  );
  await ledger.accounts.create({
    id: accountId(writer, batch),
    name: writer,
    plan: 'free',
    status: 'active',
    createdAt: AT,
  });
}

function tickIds(writer: string, batch: number): string[] {
  return Array.from({ length: TICKS_PER_BATCH }, (_, n) => `${writer}-${batch}-${n}`);
}

function accountId(writer: string, batch: number): string {
  return `${writer}-${batch}`;
}

/** Everything that the writers must have written, sorted. */
export function expectedOf(writers: readonly string[], batches: number) {
  const numbers = Array.from({ length: batches }, (_, batch) => batch);
  return {
    ticks: writers.flatMap((writer) => numbers.flatMap((batch) => tickIds(writer, batch))).sort(),
    accounts: writers.flatMap((writer) => numbers.map((batch) => accountId(writer, batch))).sort(),
    days: [FIRST_DAY_OF_BATCHES - 1, ...numbers.map((batch) => FIRST_DAY_OF_BATCHES + batch)],
  };
}
