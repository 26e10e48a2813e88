import type { Coverage } from '../../ledger/operations/feed-runs.ts';
import { type RunContext, symbolsOf } from './context.ts';
import { gapsIn } from './gaps.ts';

/** The days that a feed has delivered so far, over all of its series. */
export async function coverageOf(run: RunContext): Promise<Coverage> {
  const { provider, parts } = run;
  const codes = new Set(provider.series.map((series) => series.symbol));
  const coverage: Coverage = { days: 0, gaps: 0, firstDay: undefined, lastDay: undefined };
  for (const { id, code } of await symbolsOf(run)) {
    const days = codes.has(code) ? await parts.ledger.feeds.daysOf(provider.key, id) : [];
    if (days.length === 0) continue;
    coverage.days += days.length;
    coverage.gaps += gapsIn(days);
    coverage.firstDay = Math.min(coverage.firstDay ?? days[0]!, days[0]!);
    coverage.lastDay = Math.max(coverage.lastDay ?? days.at(-1)!, days.at(-1)!);
  }
  return coverage;
}
