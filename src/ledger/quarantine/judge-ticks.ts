import { QUARANTINE_MS, TickWatch, type WatchedTick, WINDOW_TICKS } from '../../market/quality/tick-watch.ts';
import type { Engine } from '../engine/engine.ts';
import type { Sql } from '../engine/rows.ts';
import type { NewTick } from '../ticks/tick.ts';
import {
  ONWARD_TICKS,
  positionOf,
  type QuarantinedTick,
  realTicksAround,
  type SymbolTraits,
} from './reads.ts';

/** New ticks of one symbol and one source, sorted by time. At least one. */
export interface TickGroup {
  symbolId: number;
  sourceId: number;
  traits: SymbolTraits;
  ticks: readonly NewTick[];
}

/** A new tick that goes into quarantine. */
export interface SuspiciousTick {
  tick: NewTick;
  reason: string;
}

/** The decisions about the first ticks of a group. */
export interface JudgedTicks {
  accepted: NewTick[];
  held: SuspiciousTick[];
  /** In quarantine before, and confirmed by the new ticks. */
  released: QuarantinedTick[];
  /** When the newest tick of the group was received. */
  now: number;
  /** Ticks after the neighbours that were read. They are judged next. */
  rest: NewTick[];
}

/** A tick as `TickWatch` sees it: new, or in quarantine. */
interface Candidate extends WatchedTick {
  fresh?: NewTick;
  quarantined?: QuarantinedTick;
}

/** Judges the first ticks of a group by their neighbours. `quarantined` are the held ticks of the symbol. */
export async function judgeTicks(
  engine: Engine,
  tx: Sql,
  group: TickGroup,
  quarantined: readonly QuarantinedTick[],
): Promise<JudgedTicks> {
  const { traits, ticks } = group;
  const now = ticks.reduce((newest, tick) => Math.max(newest, tick.received), 0);
  const { count, neighbours } = await readNeighbours(engine, tx, group);
  const waiting = quarantined.filter((tick) => tick.received > now - QUARANTINE_MS).map(toCandidate);
  const watch = new TickWatch<WatchedTick>(traits.priceTraits, neighbours, waiting);

  const judged = ticks.slice(0, count);
  const reasons = new Map<NewTick, string>();
  const released: QuarantinedTick[] = [];
  for (const tick of judged) {
    const candidate: Candidate = { ...tick, sourceId: group.sourceId, fresh: tick };
    const reason = watch.take(candidate);
    if (reason !== undefined) reasons.set(tick, reason);
    for (const confirmed of watch.release() as Candidate[]) {
      if (confirmed.fresh) reasons.delete(confirmed.fresh);
      if (confirmed.quarantined) released.push(confirmed.quarantined);
    }
  }
  const accepted = judged.filter((tick) => !reasons.has(tick));
  const held = [...reasons].map(([tick, reason]) => ({ tick, reason }));
  return { accepted, held, released, now, rest: ticks.slice(count) };
}

/** Reads the neighbours of the first `count` ticks of a group: as many as one read covers, including a window after the last. */
async function readNeighbours(
  engine: Engine,
  tx: Sql,
  group: TickGroup,
): Promise<{ count: number; neighbours: WatchedTick[] }> {
  const { ticks } = group;
  const { before, onward } = await realTicksAround(engine, tx, positionOf(group, ticks[0]!.at));
  const edge = onward.length < ONWARD_TICKS ? undefined : onward[ONWARD_TICKS - WINDOW_TICKS - 1];
  const count = edge ? ticks.findLastIndex((tick) => tick.at <= edge.at) + 1 : ticks.length;
  const last = ticks[count - 1]!.at;
  const near = onward.filter((tick) => tick.at <= last).length + WINDOW_TICKS;
  return { count, neighbours: [...before, ...onward.slice(0, near)] };
}

function toCandidate(quarantined: QuarantinedTick): Candidate {
  const { at, price, sourceId } = quarantined;
  return { at, price, sourceId, quarantined };
}
