import type { BarRevision } from '../ledger/bars.ts';
import type { Closing } from '../ledger/closing.ts';
import type { LedgerTick } from '../ledger/ticks.ts';
import { type Fold, foldTick, ohlcOf, sameOhlc } from '../market/bar.ts';

const FIRST = 'session close';
const AGAIN = 'late ticks';

/**
 * The bar to publish for a day whose session has ended. A day without a bar gets the fold of its ticks. A bar that came
 * from here follows late ticks. A bar from elsewhere (an import, a settlement) is better than ours and stays.
 */
export async function closingOf(
  current: BarRevision | undefined,
  readTicks: () => Promise<LedgerTick[]>,
): Promise<Closing | undefined> {
  if (current && current.reason !== FIRST && current.reason !== AGAIN) return undefined;
  const ticks = await readTicks();
  // Old ticks are let go of all together. When those of the bar have gone, a straggler alone says nothing of the day.
  if (current && !ticks.some((tick) => tick.revision < current.revision)) return undefined;
  let fold: Fold | undefined;
  // Two sources may use the same id for the same moment: the one that was known first goes first.
  for (const tick of ticks.toSorted((a, b) => a.sourceId - b.sourceId)) fold = foldTick(fold, tick);
  if (!fold) return undefined;
  const ohlc = ohlcOf(fold);
  if (current && sameOhlc(current, ohlc)) return undefined;
  return { ...ohlc, sourceId: sourceOf(ticks, fold), reason: current ? AGAIN : FIRST };
}

function sourceOf(ticks: readonly LedgerTick[], fold: Fold): number {
  return ticks.find((tick) => tick === fold.close)!.sourceId;
}
