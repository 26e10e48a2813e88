import type { Ledger } from '../../ledger/ledger.ts';
import type { NewBar } from '../../ledger/prices/bars.ts';
import type { BarOutcome } from '../../ledger/prices/publish-bars.ts';
import { type BarPush, ofRepeat, type Push, type PushOutcome } from '../../ledger/prices/pushes.ts';
import { judgeBars } from '../../ledger/quarantine/judge-bars.ts';
import { symbolDayKey } from '../../ledger/symbols/origin.ts';
import { sameOhlc } from '../../market/bar.ts';
import { printDay } from '../../market/day.ts';
import { unitChanges } from '../run/doubts.ts';
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
  const { source, bars, received, accept } = push;
  const outcomes = new Map<NewBar, PushOutcome>();
  const { unique, repeats } = withoutRepeats(bars, outcomes);
  const { admitted, held, refused, confirmed } = await judgeBars(ledger.engine, unique, {
    source,
    comparedWith: 'own',
    accept,
    holdUnitChanges: false,
    reconsiderHeld: true,
  });
  for (const { bar, reason } of refused) outcomes.set(bar, { status: 'refused', reason });
  for (const { bar, reason } of held) outcomes.set(bar, { status: 'quarantined', reason });
  const doubted = accept ? new Map<number, string>() : await unitChanges(ledger, admitted, source);
  for (const bar of admitted) {
    const reason = doubted.get(bar.symbolId);
    if (reason)
      outcomes.set(bar, { status: 'refused', reason: `${reason}; send accept=true if it is right` });
  }
  const wanted = admitted.filter((bar) => !outcomes.has(bar));
  await ledger.heldBars.hold(held, { source, origin: 'push', received });
  await ledger.heldBars.confirm(
    confirmed.filter(({ symbolId }) => !doubted.has(symbolId)),
    received,
  );
  await ledger.bars.publish(wanted, {
    source,
    recordedAt: received,
    comparedWith: 'own',
    onBar: (bar, outcome) => outcomes.set(bar, { status: STATUS[outcome] }),
  });
  await ledger.heldBars.settle(wanted, source, received);
  for (const [bar, first] of repeats) outcomes.set(bar, ofRepeat(outcomes.get(first)!));
  return bars.map((bar) => outcomes.get(bar)!);
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
