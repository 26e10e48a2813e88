import type { Push, PushOutcome, StorePush } from '../../../ledger/prices/pushes.ts';
import type { LedgerSymbol } from '../../../ledger/symbols/symbols.ts';
import { inconsistency } from '../../../market/bar.ts';
import { futureDay, marketOf } from '../../../market/session.ts';
import { shouldYield, yieldToRequests } from '../../../runtime/yield.ts';
import type { AdminEndpoint } from '../../model/endpoint.ts';
import type { IngestMetrics, OutcomeCounts } from '../../telemetry/ingest-metrics.ts';
import { adminEndpoint } from '../admin-endpoint.ts';
import type { KnownSymbols } from '../prices/known-symbols.ts';
import { type Batch, type InvalidRecord, readBar, readBatch, readTick } from './push-body.ts';

/** POST /admin/ticks and /admin/bars: accepts prices from the operator's own feed. */
export function adminPush(symbols: KnownSymbols, store: StorePush, metrics: IngestMetrics): AdminEndpoint[] {
  const timed: StorePush = (push) => metrics.timePush(push.kind, () => store(push));
  return [
    adminEndpoint('/admin/ticks', {
      async POST({ request, query, now }) {
        const batch = await readBatch(request, query, 'ticks');
        const { source } = batch;
        return pushBatch(batch, symbols, timed, {
          count: (outcomes) => metrics.countPushed('ticks', outcomes),
          parse: (record) => readTick(record, now),
          entry: ({ at, price, id }, { id: symbolId }) => {
            return { symbolId, at, price, received: now, id: id ?? derivedId(symbolId, at, price, source) };
          },
          push: (ticks) => ({ kind: 'ticks', source, ticks }),
        });
      },
    }),
    adminEndpoint('/admin/bars', {
      async POST({ request, query, now }) {
        const batch = await readBatch(request, query, 'bars');
        const { source, accept } = batch;
        return pushBatch(batch, symbols, timed, {
          count: (outcomes) => metrics.countPushed('bars', outcomes),
          parse: readBar,
          entry: ({ symbol: _, ...bar }, { id, market }) => {
            const problem = futureDay(marketOf(market), bar.day, now);
            return problem === undefined ? { symbolId: id, ...bar } : { reason: `date: ${problem}` };
          },
          push: (bars) => ({ kind: 'bars', source, bars, received: now, accept }),
          remark: (bar) => inconsistency(bar),
        });
      },
    }),
  ];
}

/** Makes a tick without an id idempotent: the same price, time and source give the same id. */
function derivedId(symbolId: number, at: number, price: number, source: string): string {
  return new Bun.CryptoHasher('sha256')
    .update(`${symbolId} ${at} ${price} ${source}`)
    .digest('hex')
    .slice(0, 32);
}

/** How records of one kind are parsed, and turned into a push to the ledger. */
interface RecordKind<Record extends { symbol: string }, Entry extends object> {
  parse(record: unknown): Record | InvalidRecord;
  entry(record: Record, symbol: LedgerSymbol): Entry | InvalidRecord;
  push(entries: readonly Entry[]): Push;
  count(outcomes: OutcomeCounts): void;
  /** What is odd about a record that is stored nevertheless. */
  remark?(entry: Entry): string | undefined;
}

/** Pushes the valid records of a batch, and reports the outcome of every record in the order received. */
async function pushBatch<Record extends { symbol: string }, Entry extends object>(
  { source, records }: Batch,
  symbols: KnownSymbols,
  store: StorePush,
  { parse, entry, push, count, remark }: RecordKind<Record, Entry>,
): Promise<Readonly<{ [member: string]: unknown }>> {
  const entryOf = (record: Record): Entry | InvalidRecord => {
    const symbol = symbols.get(record.symbol);
    return symbol ? entry(record, symbol) : { reason: unknownSymbol(symbols, record.symbol) };
  };
  const parsed: (Record | InvalidRecord)[] = [];
  for (const record of records) {
    if (shouldYield()) await yieldToRequests();
    parsed.push(parse(record));
  }
  await symbols.load(new Set(parsed.flatMap((one) => ('reason' in one ? [] : [one.symbol]))));
  const results: PushOutcome[] = [];
  const entries: Entry[] = [];
  const indexes: number[] = []; // of the entries in `results`
  for (const [i, one] of parsed.entries()) {
    if (shouldYield()) await yieldToRequests();
    const found = 'reason' in one ? one : entryOf(one);
    if ('reason' in found) results[i] = { status: 'refused', reason: found.reason };
    else {
      entries.push(found);
      indexes.push(i);
    }
  }
  const outcomes = entries.length > 0 ? await store(push(entries)) : [];
  for (const [i, outcome] of outcomes.entries()) {
    const isStored = outcome.status === 'accepted' || outcome.status === 'corrected';
    const reason = isStored ? remark?.(entries[i]!) : undefined;
    results[indexes[i]!] = reason === undefined ? outcome : { ...outcome, reason };
  }
  const counts: OutcomeCounts = { accepted: 0, corrected: 0, duplicate: 0, quarantined: 0, refused: 0 };
  for (const { status } of results) counts[status]++;
  count(counts);
  return { success: true, source, ...counts, results };
}

function unknownSymbol({ catalog }: KnownSymbols, code: string): string {
  if (catalog.formulas.some((formula) => formula.code === code))
    return `symbol: ${code} is a formula; push the prices of the symbols that it is computed from`;
  const nearest = catalog.nearest(code);
  return `symbol: there is no ${code}${nearest.length > 0 ? ` (did you mean ${nearest.join(', ')}?)` : ''}`;
}
