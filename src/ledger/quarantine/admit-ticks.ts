import {
  areCalm,
  QUARANTINE_MS,
  type TickNeighbours,
  TickWatch,
  type WatchedTick,
  WINDOW_TICKS,
} from '../../market/quarantine.ts';
import { tradeDate } from '../../market/session.ts';
import { missingPrice } from '../../market/symbol.ts';
import type { Engine } from '../engine/engine.ts';
import { nextRevision } from '../engine/revisions.ts';
import type { Sql } from '../engine/rows.ts';
import { insertRows, listOf } from '../engine/statements.ts';
import { markReal } from '../symbols/origin.ts';
import { sourceId } from '../symbols/sources.ts';
import { insertFresh, insertTicks, type NewTick } from '../ticks/ticks.ts';
import { nextQuarantineId } from './held-bars.ts';
import {
  heldOf,
  type Known,
  keyOf,
  knownTicks,
  neighboursOf,
  ONWARD_TICKS,
  type QuarantinedTick,
  realTicksAround,
  releasedTick,
  type TickPosition,
  type Traits,
  traitsOf,
} from './reads.ts';

/** The result for one tick. */
export type TickOutcome =
  | { status: 'accepted' | 'duplicate' }
  | { status: 'quarantined' | 'refused'; reason: string };

/** One transaction that admits ticks. */
interface Admission {
  engine: Engine;
  tx: Sql;
  source: number;
  revision: number;
  traits: ReadonlyMap<number, Traits>;
  outcomes: Map<NewTick, TickOutcome>;
}

/** The new ticks of one symbol, by time. */
interface Group {
  symbolId: number;
  traits: Traits;
  ticks: readonly NewTick[];
}

/** A tick being judged; `row` is its quarantine id if it was held before. */
interface Candidate extends WatchedTick {
  tick: NewTick & { sourceId: number };
  row?: number;
  reason?: string;
}

/** Decisions that are not written yet. */
interface Decided {
  fresh: NewTick[];
  released: (NewTick & { sourceId: number })[];
  doubted: Candidate[];
}

/**
 * Judges ticks of one source in an open transaction, and returns an outcome for each:
 *
 *     known by its id? ─► calm: nothing held, each near the one before ─► accepted
 *                         otherwise: judged by its neighbours ─► accepted or held
 *
 * Most ticks are calm. They take one statement of each kind, for any number of symbols. So does a backfill: ticks between
 * known ones take one statement more.
 */
export async function admitSome(
  engine: Engine,
  tx: Sql,
  ticks: readonly NewTick[],
  sourceName: string,
): Promise<TickOutcome[]> {
  // Locks the counter's row, so the neighbours of a tick cannot change while it is judged.
  const revision = await nextRevision(tx, 'prices');
  const source = await sourceId(tx, sourceName);
  const traits = await traitsOf(engine, tx, [...new Set(ticks.map((tick) => tick.symbolId))]);
  const admission: Admission = { engine, tx, source, revision, traits, outcomes: new Map() };
  const priced = pricedOf(ticks, admission);
  const fresh = freshOf(priced, await knownTicks(engine, tx, source, priced), admission.outcomes);
  let groups = [...Map.groupBy(fresh, (tick) => tick.symbolId)].map(([symbolId, ofSymbol]) =>
    groupOf(admission, symbolId, ofSymbol.sort(byTime)),
  );
  while (groups.length > 0) groups = await admitGroups(admission, groups);
  return ticks.map((tick) => admission.outcomes.get(tick)!);
}

/** Refuses missing prices: a zero where the price cannot be zero. */
function pricedOf(ticks: readonly NewTick[], { traits, outcomes }: Admission): NewTick[] {
  return ticks.filter((tick) => {
    const reason = missingPrice(tick, traits.get(tick.symbolId)?.usual.canBeZero ?? true);
    if (reason !== undefined) outcomes.set(tick, { status: 'refused', reason });
    return reason === undefined;
  });
}

/** The new ticks. A known id must repeat the same tick, or it is refused. */
function freshOf(
  ticks: readonly NewTick[],
  known: Map<string, Known>,
  outcomes: Map<NewTick, TickOutcome>,
): NewTick[] {
  const fresh: NewTick[] = [];
  for (const tick of ticks) {
    const before = known.get(keyOf(tick));
    if (!before) {
      known.set(keyOf(tick), { at: tick.at, price: tick.price, state: 'taken', reason: '' });
      fresh.push(tick);
    } else if (before.at !== tick.at || before.price !== tick.price) {
      outcomes.set(tick, { status: 'refused', reason: 'its id was used for another price or time' });
    } else if (before.state === 'held') outcomes.set(tick, { status: 'quarantined', reason: before.reason });
    else if (before.state === 'dropped')
      outcomes.set(tick, { status: 'refused', reason: 'it was dropped from quarantine' });
    else outcomes.set(tick, { status: 'duplicate' });
  }
  return fresh;
}

function byTime(a: NewTick, b: NewTick): number {
  return a.at - b.at || (a.id < b.id ? -1 : 1);
}

/** `ticks` must be sorted by time. */
function groupOf(admission: Admission, symbolId: number, ticks: readonly NewTick[]): Group {
  const traits = admission.traits.get(symbolId);
  if (!traits) throw new Error(`no symbol has the id ${symbolId}`);
  return { symbolId, traits, ticks };
}

function positionOf({ symbolId, traits }: Group, at: number): TickPosition {
  return { symbolId, day: tradeDate(traits.market, at), at };
}

/** Judges the groups and writes the decisions. Returns the rest of groups whose ticks span too many existing ones. */
async function admitGroups(admission: Admission, groups: readonly Group[]): Promise<Group[]> {
  const { engine, tx } = admission;
  const withHeld = groups.filter(({ traits }) => traits.hasHeld);
  const held = await heldOf(
    engine,
    tx,
    withHeld.map(({ symbolId }) => symbolId),
  );
  const calm = await calmGroups(
    admission,
    groups.filter(({ symbolId }) => !held.has(symbolId)),
  );
  const decided: Decided = { fresh: [], released: [], doubted: [] };
  const left: Group[] = [];
  for (const group of groups) {
    if (calm.has(group)) {
      for (const tick of group.ticks) admission.outcomes.set(tick, { status: 'accepted' });
      for (const tick of group.ticks) decided.fresh.push(tick);
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
async function calmGroups(admission: Admission, groups: readonly Group[]): Promise<Set<Group>> {
  const atFirst = await neighboursOfGroups(admission, groups, ({ ticks }) => [ticks[0]!.at]);
  const mixed = groups.filter((group) => {
    const { ticks } = group;
    return atFirst.get(group)!.get(ticks[0]!.at)!.nextAt <= ticks.at(-1)!.at;
  });
  const atEach = await neighboursOfGroups(admission, mixed, ({ ticks }) => ticks.map(({ at }) => at));
  const isCalm = (group: Group) =>
    areCalm(group.traits.usual, group.ticks, atEach.get(group) ?? atFirst.get(group)!);
  return new Set(groups.filter(isCalm));
}

/** The neighbours of some times in each group, by time. */
async function neighboursOfGroups(
  { engine, tx }: Admission,
  groups: readonly Group[],
  timesOf: (group: Group) => number[],
): Promise<Map<Group, Map<number, TickNeighbours>>> {
  const wanted = groups.flatMap((group) => [...new Set(timesOf(group))].map((at) => ({ group, at })));
  const positions = wanted.map(({ group, at }) => positionOf(group, at));
  const found = await neighboursOf(engine, tx, positions);
  const byGroup = new Map(groups.map((group) => [group, new Map<number, TickNeighbours>()]));
  for (const [i, { group, at }] of wanted.entries()) byGroup.get(group)!.set(at, found[i]!);
  return byGroup;
}

/** Judges the first ticks of a group by their neighbours. Returns those beyond the neighbours that were read. */
async function judge(
  { engine, tx, source, outcomes }: Admission,
  group: Group,
  waiting: readonly QuarantinedTick[],
  decided: Decided,
): Promise<NewTick[]> {
  const { traits, ticks } = group;
  const now = ticks.reduce((newest, tick) => Math.max(newest, tick.received), 0);
  const { before, onward } = await realTicksAround(engine, tx, positionOf(group, ticks[0]!.at));
  const edge = onward.length < ONWARD_TICKS ? undefined : onward[ONWARD_TICKS - WINDOW_TICKS - 1];
  const count = edge ? ticks.findLastIndex((tick) => tick.at <= edge.at) + 1 : ticks.length;
  const last = ticks[count - 1]!.at;
  const near = onward.filter((tick) => tick.at <= last).length + WINDOW_TICKS;
  const held = waiting.filter((row) => row.received > now - QUARANTINE_MS).map(toCandidate);
  const watch = new TickWatch<WatchedTick>(traits.usual, [...before, ...onward.slice(0, near)], held);

  const doubted = new Set<Candidate>();
  const released: Candidate[] = [];
  const judged = new Map<Candidate, NewTick>();
  for (const tick of ticks.slice(0, count)) {
    const candidate: Candidate = { ...tick, sourceId: source, tick: { ...tick, sourceId: source } };
    judged.set(candidate, tick);
    const reason = watch.take(candidate);
    if (reason !== undefined) doubted.add(Object.assign(candidate, { reason }));
    for (const one of watch.release() as Candidate[]) {
      doubted.delete(one);
      if (one.row !== undefined) released.push(one);
    }
  }
  for (const [candidate, tick] of judged) {
    const isHeld = doubted.has(candidate);
    outcomes.set(
      tick,
      isHeld ? { status: 'quarantined', reason: candidate.reason! } : { status: 'accepted' },
    );
    if (!isHeld) decided.fresh.push(tick);
  }
  await markReleased(engine, tx, released, now);
  for (const { tick } of released) decided.released.push({ ...tick, received: now });
  for (const candidate of doubted) decided.doubted.push(candidate);
  return ticks.slice(count);
}

function toCandidate(row: QuarantinedTick): Candidate {
  const tick = releasedTick(row, row.received);
  return { at: tick.at, price: tick.price, sourceId: tick.sourceId, tick, row: row.id };
}

async function markReleased(
  engine: Engine,
  tx: Sql,
  released: readonly Candidate[],
  now: number,
): Promise<void> {
  if (released.length === 0) return;
  await tx.unsafe(
    `UPDATE quarantine_tick SET state = 'released', decided_at = ${engine.placeholder(1)}, decided_by = 'others agree'
     WHERE id IN (${listOf(engine, released.length, 2)})`,
    [now, ...released.map((one) => one.row!)],
  );
}

async function write({ engine, tx, source, revision, traits }: Admission, decided: Decided): Promise<void> {
  const markets = new Map([...traits].map(([id, { market }]) => [id, market]));
  await insertFresh(engine, tx, decided.fresh, { markets, source, revision });
  const symbolIds = new Set(decided.fresh.map((tick) => tick.symbolId));
  await markReal(
    engine,
    tx,
    [...symbolIds].filter((id) => !traits.get(id)!.isReal),
    revision,
  );
  await insertTicks(engine, tx, decided.released, markets, revision);
  await hold(engine, tx, decided.doubted);
}

async function hold(engine: Engine, tx: Sql, doubted: readonly Candidate[]): Promise<void> {
  if (doubted.length === 0) return;
  const first = await nextQuarantineId(tx);
  await insertRows(
    engine,
    tx,
    'quarantine_tick (id, symbol_id, source_id, tick_id, at, received, price, reason, state)',
    doubted.map(({ tick, reason = '' }, i) => [
      first + i,
      tick.symbolId,
      tick.sourceId,
      tick.id,
      tick.at,
      tick.received,
      tick.price,
      reason,
      'held',
    ]),
  );
}
