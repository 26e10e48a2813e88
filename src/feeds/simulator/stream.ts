import type { Ledger } from '../../ledger/ledger.ts';
import { SIMULATED } from '../../ledger/symbols/sources.ts';
import type { LedgerSymbol } from '../../ledger/symbols/symbols.ts';
import type { NewTick } from '../../ledger/ticks/tick.ts';
import type { Bar } from '../../market/bar.ts';
import { type Market, marketOf, tradeDate } from '../../market/session.ts';
import { priceAt } from './path.ts';
import {
  isLive,
  lastClosedDay,
  momentsIn,
  runningSession,
  type Session,
  SPARSE_MS,
  sessionOf,
  sparseMomentsIn,
  type Timetable,
  timetableOf,
} from './schedule.ts';
import { barsOf, walkOf } from './walk.ts';

/** The ledger writes this many in one transaction. */
const TICKS_PER_WRITE = 2_000;

/**
 * Live simulated ticks. A tick's price and id depend only on its symbol and scheduled time, so generating it twice, in one
 * process or in two, leaves one tick in the ledger.
 */
export class Stream {
  readonly #ledger: Ledger;
  /** The final bar of the open session, by symbol id. */
  readonly #bars = new Map<number, Bar>();
  /** All ticks up to this time are written. */
  #through: number | undefined;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** Writes the ticks that are due. Returns how many. */
  async tick(symbols: readonly LedgerSymbol[], now: number): Promise<number> {
    const simulated = symbols.filter((symbol) => !symbol.real && isLive(symbol));
    // After a pause, for example a suspended machine, the past is generated as at a start.
    const isAtStart = this.#through === undefined || now - this.#through > SPARSE_MS;
    const ticks = isAtStart
      ? await this.#sessionSoFar(simulated, now)
      : this.#due(simulated, this.#through!, now);
    await this.#write(ticks);
    this.#through = Math.max(this.#through ?? now, now);
    return ticks.length;
  }

  /** Writes the last closed session of each market, so that intraday prices do not begin with the first start. Returns how many ticks. */
  async fillLastSession(symbols: readonly LedgerSymbol[], now: number): Promise<number> {
    const simulated = symbols.filter((symbol) => !symbol.real && isLive(symbol));
    const ticks = await this.#sparseTicks(
      simulated,
      (market) => sessionOf(market, lastClosedDay(market, now)),
      now,
    );
    this.#bars.clear(); // those of the open session are computed again
    await this.#write(ticks);
    return ticks.length;
  }

  async #write(ticks: readonly NewTick[]): Promise<void> {
    for (let from = 0; from < ticks.length; from += TICKS_PER_WRITE) {
      await this.#ledger.ticks.append(ticks.slice(from, from + TICKS_PER_WRITE), SIMULATED);
    }
  }

  /** The open sessions from their start to now, with ticks ten minutes apart. */
  #sessionSoFar(symbols: readonly LedgerSymbol[], now: number): Promise<NewTick[]> {
    return this.#sparseTicks(symbols, (market) => runningSession(market, now), now);
  }

  /** Those that the ledger does not have: the ticks of a session are written in the order of their times. */
  async #sparseTicks(
    symbols: readonly LedgerSymbol[],
    sessionIn: (market: Market) => Session | undefined,
    upTo: number,
  ): Promise<NewTick[]> {
    const sessions = memo(sessionIn);
    const inSession = symbols.flatMap((symbol) => {
      const session = sessions(symbol.market);
      return session ? { symbol, session, symbolId: symbol.id, day: session.day } : [];
    });
    const newest = await this.#ledger.ticks.newestSimulated(inSession);
    return inSession.flatMap(({ symbol, session }, i) => {
      const timetable = timetableOf(symbol, session);
      const moments = sparseMomentsIn(timetable, upTo).filter((at) => at > (newest[i] ?? 0));
      return this.#ticksAt(symbol, session, timetable, moments);
    });
  }

  /** The ticks scheduled in (after, now]. A session may have ended and another started in between. */
  #due(symbols: readonly LedgerSymbol[], after: number, now: number): NewTick[] {
    const sessions = memo((market) =>
      [...new Set([tradeDate(market, after), tradeDate(market, now)])]
        .map((day) => sessionOf(market, day))
        .filter((session) => session !== undefined),
    );
    return symbols.flatMap((symbol) =>
      sessions(symbol.market).flatMap((session) => {
        const timetable = timetableOf(symbol, session);
        return this.#ticksAt(symbol, session, timetable, momentsIn(timetable, after, now));
      }),
    );
  }

  #ticksAt(
    symbol: LedgerSymbol,
    session: Session,
    timetable: Timetable,
    moments: readonly number[],
  ): NewTick[] {
    if (moments.length === 0) return [];
    const walk = walkOf(symbol);
    const bar = this.#barOf(symbol, session);
    return moments.map((at) => ({
      symbolId: symbol.id,
      id: at.toString(36), // the ledger identifies a tick by symbol, source and id
      at,
      received: at,
      price: priceAt(walk, bar, timetable, at),
    }));
  }

  #barOf(symbol: LedgerSymbol, { day }: Session): Bar {
    let bar = this.#bars.get(symbol.id);
    if (bar?.day !== day) {
      [bar] = barsOf(walkOf(symbol), day, day);
      this.#bars.set(symbol.id, bar!);
    }
    return bar!;
  }
}

/** Computes a value once per market. */
function memo<T>(compute: (market: Market) => T): (key: string) => T {
  const known = new Map<string, T>();
  return (key) => known.getOrInsertComputed(key, () => compute(marketOf(key)));
}
