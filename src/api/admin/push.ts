import type { Board } from '../../board/board.ts';
import type { Push, PushOutcome, TakePush } from '../../ledger/prices/pushes.ts';
import { utcDay } from '../../market/day.ts';
import { shouldYield, yieldToRequests } from '../../runtime/yield.ts';
import type { AdminEndpoint, Call } from '../model/endpoint.ts';
import type { IngestMetrics, OutcomeCounts } from '../telemetry/ingest-metrics.ts';
import { type Batch, readBar, readBatch, readTick, type Unusable } from './push-body.ts';

/** POST /admin/ticks and /admin/bars: the operator's own feed sends its prices. */
export function adminPush(board: Board, take: TakePush, metrics: IngestMetrics): AdminEndpoint[] {
  const timed: TakePush = (push) => metrics.timePush(push.kind, () => take(push));
  return [
    {
      kind: 'admin',
      name: 'admin',
      path: '/admin/ticks',
      actions: {
        async POST({ request, query, now }: Call) {
          const batch = await readBatch(request, query, 'ticks');
          const { source } = batch;
          return answerTo(batch, board, timed, {
            count: (outcomes) => metrics.countPushed('ticks', outcomes),
            read: (record) => readTick(record, now),
            place: ({ at, price, id }, symbolId) => {
              return { symbolId, at, price, received: now, id: id ?? derivedId(symbolId, at, price, source) };
            },
            push: (ticks) => ({ kind: 'ticks', source, ticks }),
          });
        },
      },
    },
    {
      kind: 'admin',
      name: 'admin',
      path: '/admin/bars',
      actions: {
        async POST({ request, query, now }: Call) {
          const batch = await readBatch(request, query, 'bars');
          const { source, accept } = batch;
          return answerTo(batch, board, timed, {
            count: (outcomes) => metrics.countPushed('bars', outcomes),
            // two days on: Asia and an evening session are ahead of UTC
            read: (record) => readBar(record, utcDay(now) + 2),
            place: ({ symbol: _, ...bar }, symbolId) => ({ symbolId, ...bar }),
            push: (bars) => ({ kind: 'bars', source, bars, received: now, accept }),
          });
        },
      },
    },
  ];
}

/** The same price of the same moment from the same sender is the same tick. */
function derivedId(symbolId: number, at: number, price: number, source: string): string {
  return new Bun.CryptoHasher('sha256')
    .update(`${symbolId} ${at} ${price} ${source}`)
    .digest('hex')
    .slice(0, 32);
}

/** How one kind of record is read, and made into what is sent on. */
interface Reading<Record extends { symbol: string }, Placed> {
  read(record: unknown): Record | Unusable;
  place(record: Record, symbolId: number): Placed;
  push(placed: readonly Placed[]): Push;
  count(outcomes: OutcomeCounts): void;
}

/** Sends what can be used on, and answers for every record in the order sent. */
async function answerTo<Record extends { symbol: string }, Placed>(
  { source, records }: Batch,
  board: Board,
  take: TakePush,
  { read, place, push, count }: Reading<Record, Placed>,
): Promise<Readonly<{ [member: string]: unknown }>> {
  const results: PushOutcome[] = [];
  const placed: Placed[] = [];
  const places: number[] = [];
  for (const [i, record] of records.entries()) {
    if (shouldYield()) await yieldToRequests();
    const usable = read(record);
    const series = 'reason' in usable ? undefined : board.catalog.find(usable.symbol);
    if ('reason' in usable) results[i] = { status: 'refused', reason: usable.reason };
    else if (!series) results[i] = { status: 'refused', reason: unknownSymbol(board, usable.symbol) };
    else {
      placed.push(place(usable, series.symbol.id));
      places.push(i);
    }
  }
  const outcomes = placed.length > 0 ? await take(push(placed)) : [];
  for (const [i, outcome] of outcomes.entries()) results[places[i]!] = outcome;
  const counts: OutcomeCounts = { accepted: 0, corrected: 0, duplicate: 0, quarantined: 0, refused: 0 };
  for (const { status } of results) counts[status]++;
  count(counts);
  return { success: true, source, ...counts, results };
}

function unknownSymbol(board: Board, code: string): string {
  const nearest = board.catalog.nearest(code);
  return `symbol: there is no ${code}${nearest.length > 0 ? ` (did you mean ${nearest.join(', ')}?)` : ''}`;
}
