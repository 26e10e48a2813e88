import type { Bar } from '../../market/bar.ts';
import { sameOhlc } from '../../market/bar.ts';
import type { Day } from '../../market/day.ts';
import { findSuspicious, NEIGHBOUR_DAYS, type SuspicionRule } from '../../market/quality/suspicion.ts';
import { missingPrice } from '../../market/symbol.ts';
import type { Engine } from '../engine/engine.ts';
import { asNumber, asOneOf, rowReader } from '../engine/rows.ts';
import { type BarRevision, type NewBar, readRevisions } from '../prices/bars.ts';
import { LATER_BAR } from './decision.ts';
import { traitsOf } from './reads.ts';

export interface JudgeOptions {
  /** The source of the bars. */
  source: string;
  /** What a bar is compared with, as in `Publication`. */
  comparedWith?: 'current' | 'own';
  /** Admits suspicious bars: the operator has checked them. */
  accept?: boolean;
  holdUnitChanges: boolean;
  /** Also judges held bars of the source, which the new ones may confirm. */
  reconsiderHeld?: boolean;
}

/** The decision about bars that are to be published. */
export interface Judgement<B extends NewBar> {
  admitted: B[];
  /** Suspicious: they wait in quarantine. */
  held: { bar: B; reason: string }[];
  /** Not prices at all. */
  refused: { bar: B; reason: string }[];
  /** Held before, and confirmed by the new bars. */
  confirmed: HeldCandidate[];
}

/** A bar in quarantine. */
export interface HeldCandidate extends NewBar {
  id: number;
}

const QUARANTINED = rowReader<HeldCandidate & { state: 'held' | 'dropped' }>({
  id: asNumber,
  symbolId: asNumber,
  day: asNumber,
  open: asNumber,
  high: asNumber,
  low: asNumber,
  close: asNumber,
  state: asOneOf('held', 'dropped'),
});

/**
 * The one gate for bars on every input path (feed, push, import). A zero that stands for a missing value is refused; a bar
 * that its neighbours contradict, among the bars themselves and in the ledger, is held, and so is one that the operator has
 * dropped. Bars that repeat what the ledger
 * has are admitted without a check. There must be at most one bar for each symbol and day.
 */
export async function judgeBars<B extends NewBar>(
  engine: Engine,
  bars: readonly B[],
  options: JudgeOptions,
): Promise<Judgement<B>> {
  const judgement: Judgement<B> = { admitted: [], held: [], refused: [], confirmed: [] };
  const bySymbol = Map.groupBy(bars, (bar) => bar.symbolId);
  if (bySymbol.size === 0) return judgement;
  const traits = await traitsOf(engine, engine.read, [...bySymbol.keys()]);
  const [row] = await engine.read`SELECT id FROM source WHERE name = ${options.source}`;
  const sourceId = row && asNumber(row.id);
  for (const [symbolId, ofSymbol] of bySymbol) {
    const canBeZero = traits.get(symbolId)?.priceTraits.canBeZero ?? false; // a new exchange rate has no traits yet
    const quarantined =
      sourceId === undefined ? [] : await quarantinedNear(engine, symbolId, sourceId, ofSymbol);
    const dropped = new Map(
      quarantined.filter(({ state }) => state === 'dropped').map((bar) => [bar.day, bar]),
    );
    const priced: B[] = [];
    for (const bar of ofSymbol) {
      const reason = missingPrice(bar, canBeZero);
      const before = dropped.get(bar.day);
      if (reason !== undefined) judgement.refused.push({ bar, reason });
      else if (before && sameOhlc(before, bar))
        judgement.held.push({ bar, reason: `${DROPPED} ${before.id}` });
      else priced.push(bar);
    }
    if (priced.length === 0) continue;
    if (options.accept) {
      for (const bar of priced) judgement.admitted.push(bar);
      continue;
    }
    priced.sort((a, b) => a.day - b.day);
    const known = await knownBars(engine, symbolId, priced, options, sourceId);
    const days = new Set(priced.map(({ day }) => day));
    const candidates = options.reconsiderHeld
      ? quarantined.filter(({ day, state }) => state === 'held' && !days.has(day))
      : [];
    const together = [...priced, ...candidates].sort((a, b) => a.day - b.day);
    const suspiciousBy = (holdUnitChanges: boolean) =>
      suspiciousOf<NewBar>(together, known, { canBeZero, holdUnitChanges });
    const suspicious = suspiciousBy(options.holdUnitChanges);
    if (candidates.length > 0) {
      const unconfirmed = suspiciousBy(true); // later bars in the changed unit do not confirm a change of unit
      judgement.confirmed.push(...candidates.filter((bar) => !unconfirmed.has(bar)));
    }
    for (const bar of priced) {
      const reason = suspicious.get(bar);
      if (reason === undefined) judgement.admitted.push(bar);
      else judgement.held.push({ bar, reason });
    }
  }
  return judgement;
}

function suspiciousOf<B extends Bar>(
  bars: readonly B[],
  known: ReadonlyMap<Day, BarRevision>,
  rule: SuspicionRule,
): Map<B, string> {
  const news = bars.filter((bar) => {
    const before = known.get(bar.day);
    return !before || !sameOhlc(before, bar);
  });
  if (news.length === 0) return new Map();
  const sorted = [...known.values()].sort((a, b) => a.day - b.day);
  return findSuspicious(news, sorted, rule);
}

const DROPPED = 'the operator dropped it from quarantine; to publish it, release';

/** Bars of the source on and around the days of the bars that are held, or that the operator dropped. */
async function quarantinedNear(engine: Engine, symbolId: number, sourceId: number, bars: readonly Bar[]) {
  const days = bars.map(({ day }) => day);
  const first = days.reduce((a, b) => Math.min(a, b)) - NEIGHBOUR_DAYS;
  const last = days.reduce((a, b) => Math.max(a, b)) + NEIGHBOUR_DAYS;
  const { read, placeholder: p } = engine;
  const rows = await read.unsafe(
    `SELECT ${QUARANTINED.columns} FROM quarantine_bar
     WHERE symbol_id = ${p(1)} AND source_id = ${p(2)} AND day >= ${p(3)} AND day <= ${p(4)}
       AND (state = 'held' OR (state = 'dropped' AND decided_by <> ${p(5)}))`,
    [symbolId, sourceId, first, last, LATER_BAR],
  );
  return rows.map(QUARANTINED.read);
}

/** The ledger's bars on and around the days of the bars. For a feed, its own newest bar takes precedence. */
async function knownBars(
  engine: Engine,
  symbolId: number,
  bars: readonly Bar[],
  { comparedWith }: JudgeOptions,
  source: number | undefined,
): Promise<Map<Day, BarRevision>> {
  const [first, last] = [bars[0]!.day - NEIGHBOUR_DAYS, bars.at(-1)!.day + NEIGHBOUR_DAYS];
  const current = new Map<Day, BarRevision>();
  const own = new Map<Day, BarRevision>();
  for (const bar of await readRevisions(engine.read, symbolId, 'real', first, last)) {
    current.set(bar.day, bar);
    if (comparedWith === 'own' && bar.sourceId === source) own.set(bar.day, bar);
  }
  const known = new Map([...current, ...own]);
  for (const [day, bar] of known) if (bar.withdrawn) known.delete(day);
  return known;
}
