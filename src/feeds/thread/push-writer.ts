import type { Ledger } from '../../ledger/ledger.ts';
import type { NewBar } from '../../ledger/prices/bars.ts';
import type { BarOutcome } from '../../ledger/prices/publish-bars.ts';
import { type BarPush, ofRepeat, type Push, type PushOutcome } from '../../ledger/prices/pushes.ts';
import { type Judgement, judgeBars } from '../../ledger/quarantine/judge-bars.ts';
import { symbolDayKey } from '../../ledger/symbols/origin.ts';
import { sameOhlc } from '../../market/bar.ts';
import { printDay } from '../../market/day.ts';
import { publishJudged } from '../publish-judged.ts';
import { type Doubts, unitChanges } from '../run/doubts.ts';
import { GroupCommit } from './group-commit.ts';

const STATUS: Readonly<Record<BarOutcome, PushOutcome['status']>> = {
  taken: 'accepted',
  corrected: 'corrected',
  unchanged: 'duplicate',
};

/** Writes what the operator's own feed pushes. */
export class PushWriter {
  readonly #openLedger: () => Promise<Ledger>;
  readonly #ticks: GroupCommit;

  constructor(openLedger: () => Promise<Ledger>) {
    this.#openLedger = openLedger;
    this.#ticks = new GroupCommit(openLedger);
  }

  /** Returns the outcome of each record once accepted ones are on disk. */
  async write(push: Push): Promise<PushOutcome[]> {
    if (push.kind === 'ticks') return this.#ticks.write(push);
    const ledger = await this.#openLedger();
    const outcomes = await writeBars(ledger, push);
    await ledger.engine.flush();
    return outcomes;
  }
}

async function writeBars(ledger: Ledger, push: BarPush): Promise<PushOutcome[]> {
  const { source, bars, received } = push;
  const outcomes = new Map<NewBar, PushOutcome>();
  const { unique, repeats } = withoutRepeats(bars, outcomes);
  const judgement = await judge(ledger, push, unique, outcomes);
  await publishJudged(ledger, judgement, {
    source,
    origin: 'push',
    recordedAt: received,
    comparedWith: 'own',
    onBar: (bar, outcome) => outcomes.set(bar, { status: STATUS[outcome] }),
  });
  for (const [bar, first] of repeats) outcomes.set(bar, ofRepeat(outcomes.get(first)!));
  return bars.map((bar) => outcomes.get(bar)!);
}

/** Judges bars, at most one for each symbol and day. Sets the outcome of those that are not admitted. */
async function judge(
  ledger: Ledger,
  { source, accept }: BarPush,
  bars: readonly NewBar[],
  outcomes: Map<NewBar, PushOutcome>,
): Promise<Omit<Judgement<NewBar>, 'refused'>> {
  const { admitted, held, refused, confirmed } = await judgeBars(ledger.engine, bars, {
    source,
    comparedWith: 'own',
    accept,
    holdUnitChanges: false,
    reconsiderHeld: true,
  });
  for (const { bar, reason } of refused) outcomes.set(bar, { status: 'refused', reason });
  for (const { bar, reason } of held) outcomes.set(bar, { status: 'quarantined', reason });
  const doubts: Doubts = accept ? new Map() : await unitChanges(ledger, admitted, source);
  const isTrusted = ({ symbolId }: { symbolId: number }) => !doubts.has(symbolId);
  for (const bar of admitted) {
    if (isTrusted(bar)) continue;
    const reason = `${doubts.get(bar.symbolId)}; send accept=true if it is right`;
    outcomes.set(bar, { status: 'refused', reason });
  }
  return { admitted: admitted.filter(isTrusted), held, confirmed: confirmed.filter(isTrusted) };
}

/** Keeps the first bar of each symbol and day. Refuses others, except for `repeats`: equal bars, each with the first one. */
function withoutRepeats(bars: readonly NewBar[], outcomes: Map<NewBar, PushOutcome>) {
  const first = new Map<string, NewBar>();
  const repeats = new Map<NewBar, NewBar>();
  for (const bar of bars) {
    const key = symbolDayKey(bar);
    const before = first.get(key);
    if (!before) first.set(key, bar);
    else if (sameOhlc(before, bar)) repeats.set(bar, before);
    else {
      const reason = `${printDay(bar.day)} appears twice with different prices; only the first counts`;
      outcomes.set(bar, { status: 'refused', reason });
    }
  }
  return { unique: [...first.values()], repeats };
}
