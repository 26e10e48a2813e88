import { areWithinTolerance, type TickNeighbours } from '../../market/quality/tick-watch.ts';
import { missingPrice } from '../../market/symbol.ts';
import type { Engine } from '../engine/engine.ts';
import { nextRevision } from '../engine/revisions.ts';
import type { Sql } from '../engine/rows.ts';
import { insertRows, listOf } from '../engine/statements.ts';
import { ofRepeat } from '../prices/pushes.ts';
import { markReal } from '../symbols/origin.ts';
import { sourceId as idOfSource } from '../symbols/sources.ts';
import type { NewTick } from '../ticks/tick.ts';
import { insertFresh, insertTicks } from '../ticks/ticks.ts';
import { takeQuarantineIds } from './held-bars.ts';
import { judgeTicks, type SuspiciousTick, type TickGroup } from './judge-ticks.ts';
import {
  heldOf,
  type KnownTick,
  keyOf,
  knownTicks,
  neighboursOf,
  positionOf,
  type QuarantinedTick,
  releasedTick,
  type SymbolTraits,
  traitsOf,
} from './reads.ts';

/** The result for one tick. */
export type TickOutcome =
  | { status: 'accepted' | 'duplicate' }
  | { status: 'quarantined' | 'refused'; reason: string };

/** One transaction that admits ticks of one source. */
interface Admission {
  engine: Engine;
  tx: Sql;
  sourceId: number;
  revision: number;
  traits: ReadonlyMap<number, SymbolTraits>;
  outcomes: Map<NewTick, TickOutcome>;
}

/** Decisions that are not written yet. */
interface Decided {
  accepted: NewTick[];
  released: (NewTick & { sourceId: number })[];
  held: SuspiciousTick[];
}

/**
 * Judges ticks of one source in an open transaction, and returns an outcome for each:
 *
 *     known by its id? ─► within tolerance: nothing held, each near the one before ─► accepted
 *                         otherwise: judged by its neighbours ─► accepted or held
 *
 * Most ticks are within tolerance. They take one statement of each kind, for any number of symbols. So does a backfill: ticks between
 * known ones take one statement more.
 */
export async function admitTicks(
  engine: Engine,
  tx: Sql,
  ticks: readonly NewTick[],
  sourceName: string,
): Promise<TickOutcome[]> {
  // Locks the counter's row, so the neighbours of a tick cannot change while it is judged.
  const revision = await nextRevision(tx, 'prices');
  const sourceId = await idOfSource(tx, sourceName);
  const traits = await traitsOf(engine, tx, [...new Set(ticks.map((tick) => tick.symbolId))]);
  const admission: Admission = { engine, tx, sourceId, revision, traits, outcomes: new Map() };
  const priced = pricedOf(ticks, admission);
  const known = await knownTicks(engine, tx, sourceId, priced);
  const { fresh, repeats } = freshOf(priced, known, admission.outcomes);
  let groups = [...Map.groupBy(fresh, (tick) => tick.symbolId)].map(([symbolId, ofSymbol]) =>
    groupOf(admission, symbolId, ofSymbol.sort(byTime)),
  );
  while (groups.length > 0) groups = await admitGroups(admission, groups);
  const { outcomes } = admission;
  for (const [tick, first] of repeats) outcomes.set(tick, ofRepeat(outcomes.get(first)!));
  return ticks.map((tick) => outcomes.get(tick)!);
}

/** Refuses missing prices: a zero where the price cannot be zero. */
function pricedOf(ticks: readonly NewTick[], { traits, outcomes }: Admission): NewTick[] {
  return ticks.filter((tick) => {
    const reason = missingPrice(tick, traits.get(tick.symbolId)?.priceTraits.canBeZero ?? true);
    if (reason !== undefined) outcomes.set(tick, { status: 'refused', reason });
    return reason === undefined;
  });
}

/** Separates new ticks from those that repeat a new one. A tick with a known id is refused unless it equals the known tick. */
function freshOf(
  ticks: readonly NewTick[],
  known: Map<string, KnownTick>,
  outcomes: Map<NewTick, TickOutcome>,
): { fresh: NewTick[]; repeats: Map<NewTick, NewTick> } {
  const fresh = new Map<string, NewTick>();
  const repeats = new Map<NewTick, NewTick>();
  for (const tick of ticks) {
    const key = keyOf(tick);
    const first = fresh.get(key);
    const stored = known.get(key);
    const before = first ?? stored;
    if (!before) fresh.set(key, tick);
    else if (before.at !== tick.at || before.price !== tick.price) {
      outcomes.set(tick, { status: 'refused', reason: 'its id was used for another price or time' });
    } else if (first) repeats.set(tick, first);
    else if (stored?.state === 'held') outcomes.set(tick, { status: 'quarantined', reason: stored.reason });
    else if (stored?.state === 'dropped')
      outcomes.set(tick, { status: 'refused', reason: 'it was dropped from quarantine' });
    else outcomes.set(tick, { status: 'duplicate' });
  }
  return { fresh: [...fresh.values()], repeats };
}

function byTime(a: NewTick, b: NewTick): number {
  return a.at - b.at || (a.id < b.id ? -1 : 1);
}

/** `ticks` must be sorted by time. */
function groupOf({ sourceId, traits }: Admission, symbolId: number, ticks: readonly NewTick[]): TickGroup {
  const ofSymbol = traits.get(symbolId);
  if (!ofSymbol) throw new Error(`no symbol has the id ${symbolId}`);
  return { symbolId, sourceId, traits: ofSymbol, ticks };
}

/** Judges the groups and writes the decisions. Returns the rest of groups whose ticks span too many existing ones. */
async function admitGroups(admission: Admission, groups: readonly TickGroup[]): Promise<TickGroup[]> {
  const { engine, tx } = admission;
  const withHeld = groups.filter(({ traits }) => traits.hasHeld);
  const held = await heldOf(
    engine,
    tx,
    withHeld.map(({ symbolId }) => symbolId),
  );
  const trusted = await groupsWithinTolerance(
    admission,
    groups.filter(({ symbolId }) => !held.has(symbolId)),
  );
  const decided: Decided = { accepted: [], released: [], held: [] };
  const left: TickGroup[] = [];
  for (const group of groups) {
    if (trusted.has(group)) {
      for (const tick of group.ticks) decided.accepted.push(tick);
    } else {
      const rest = await judge(admission, group, held.get(group.symbolId) ?? [], decided);
      // Some of its ticks may be held by now.
      if (rest.length > 0) left.push({ ...group, traits: { ...group.traits, hasHeld: true }, ticks: rest });
    }
  }
  await write(admission, decided);
  return left;
}

/** The groups whose ticks are each near the one before. Reads the neighbours at every time only where known ticks lie between. */
async function groupsWithinTolerance(
  admission: Admission,
  groups: readonly TickGroup[],
): Promise<Set<TickGroup>> {
  const atFirst = await neighboursOfGroups(admission, groups, ({ ticks }) => [ticks[0]!.at]);
  const mixed = groups.filter((group) => {
    const { ticks } = group;
    return atFirst.get(group)!.get(ticks[0]!.at)!.nextAt <= ticks.at(-1)!.at;
  });
  const atEach = await neighboursOfGroups(admission, mixed, ({ ticks }) => ticks.map(({ at }) => at));
  const isTrusted = (group: TickGroup) =>
    areWithinTolerance(group.traits.priceTraits, group.ticks, atEach.get(group) ?? atFirst.get(group)!);
  return new Set(groups.filter(isTrusted));
}

/** The neighbours of some times in each group, by time. */
async function neighboursOfGroups(
  { engine, tx }: Admission,
  groups: readonly TickGroup[],
  timesOf: (group: TickGroup) => number[],
): Promise<Map<TickGroup, Map<number, TickNeighbours>>> {
  const wanted = groups.flatMap((group) => [...new Set(timesOf(group))].map((at) => ({ group, at })));
  const positions = wanted.map(({ group, at }) => positionOf(group, at));
  const found = await neighboursOf(engine, tx, positions);
  const byGroup = new Map(groups.map((group) => [group, new Map<number, TickNeighbours>()]));
  for (const [i, { group, at }] of wanted.entries()) byGroup.get(group)!.set(at, found[i]!);
  return byGroup;
}

/** Judges the first ticks of a group, and adds the decisions to `decided`. Returns the rest of the ticks. */
async function judge(
  { engine, tx }: Admission,
  group: TickGroup,
  quarantined: readonly QuarantinedTick[],
  decided: Decided,
): Promise<NewTick[]> {
  const { accepted, held, released, now, rest } = await judgeTicks(engine, tx, group, quarantined);
  await markReleased(engine, tx, released, now);
  for (const tick of accepted) decided.accepted.push(tick);
  for (const tick of released) decided.released.push(releasedTick(tick, now));
  for (const suspicious of held) decided.held.push(suspicious);
  return rest;
}

async function markReleased(
  engine: Engine,
  tx: Sql,
  released: readonly QuarantinedTick[],
  now: number,
): Promise<void> {
  if (released.length === 0) return;
  await tx.unsafe(
    `UPDATE quarantine_tick SET state = 'released', decided_at = ${engine.placeholder(1)}, decided_by = 'others agree'
     WHERE id IN (${listOf(engine, released.length, 2)})`,
    [now, ...released.map(({ id }) => id)],
  );
}

async function write(admission: Admission, { accepted, released, held }: Decided): Promise<void> {
  const { engine, tx, sourceId, revision, traits, outcomes } = admission;
  for (const tick of accepted) outcomes.set(tick, { status: 'accepted' });
  for (const { tick, reason } of held) outcomes.set(tick, { status: 'quarantined', reason });
  const markets = new Map([...traits].map(([id, { market }]) => [id, market]));
  await insertFresh(engine, tx, accepted, { markets, source: sourceId, revision });
  const symbolIds = new Set(accepted.map((tick) => tick.symbolId));
  await markReal(
    engine,
    tx,
    [...symbolIds].filter((id) => !traits.get(id)!.isReal),
    revision,
  );
  await insertTicks(engine, tx, released, markets, revision);
  await hold(admission, held);
}

async function hold({ engine, tx, sourceId }: Admission, held: readonly SuspiciousTick[]): Promise<void> {
  if (held.length === 0) return;
  const first = await takeQuarantineIds(tx, held.length);
  await insertRows(
    engine,
    tx,
    'quarantine_tick (id, symbol_id, source_id, tick_id, at, received, price, reason, state)',
    held.map(({ tick: { symbolId, id, at, received, price }, reason }, i) => [
      first + i,
      symbolId,
      sourceId,
      id,
      at,
      received,
      price,
      reason,
      'held',
    ]),
  );
}
