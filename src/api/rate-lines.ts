import type { BarTexts } from '../board/bar-texts.ts';
import type { Columns, SourcedBar } from '../board/columns.ts';
import type { Settled } from '../board/prices.ts';
import { type Day, FIRST_DAY, LAST_DAY, printDay } from '../market/day.ts';
import { rateJson } from './render.ts';
import { CLOSE, COMMA, OPEN, type Sheet } from './sheet.ts';

/** The bars of one symbol, each with its line of JSON: `"XAU":{"open":…}`. */
export interface RateLines {
  readonly length: number;
  day(index: number): Day;
  write(index: number, sheet: Sheet): void;
}

/** Of bars in the history, which were written before. */
export class SettledLines implements RateLines {
  readonly #columns: Columns;
  readonly #from: number;
  readonly #texts: BarTexts;
  readonly length: number;

  constructor(code: string, settled: Settled) {
    this.#columns = settled.columns;
    this.#from = settled.from;
    this.#texts = settled.columns.texts(code, rateJson);
    this.length = settled.to - settled.from;
  }

  day(index: number): Day {
    return this.#columns.day(this.#from + index);
  }

  write(index: number, sheet: Sheet): void {
    this.#texts.copy(this.#from + index, sheet);
  }
}

/** Of others, which are written now. */
export class BarLines implements RateLines {
  readonly #code: string;
  readonly #bars: readonly SourcedBar[];

  constructor(code: string, bars: readonly SourcedBar[]) {
    this.#code = code;
    this.#bars = bars;
  }

  get length(): number {
    return this.#bars.length;
  }

  day(index: number): Day {
    return this.#bars[index]!.day;
  }

  write(index: number, sheet: Sheet): void {
    sheet.ascii(rateJson(this.#code, this.#bars[index]!));
  }
}

/**
 * `,"2024-05-14":{"XAU":{…},"XAG":{…}}` for each day that any symbol has: all symbols walk through their days together.
 * `onDay` hears of each day before it is written.
 */
export function writeByDay(sheet: Sheet, lines: readonly RateLines[], onDay?: (day: Day) => void): void {
  const next = lines.map(() => 0);
  const days = lines.map((own) => (own.length > 0 ? own.day(0) : NEVER));
  for (;;) {
    let day = NEVER;
    for (let i = 0; i < days.length; i++) if (days[i]! < day) day = days[i]!;
    if (day === NEVER) return;
    onDay?.(day);
    sheet.ascii(keyOf(day));
    let before = OPEN;
    for (let i = 0; i < days.length; i++) {
      if (days[i] !== day) continue;
      const own = lines[i]!;
      sheet.byte(before);
      before = COMMA;
      own.write(next[i]!, sheet);
      next[i]!++;
      days[i] = next[i]! < own.length ? own.day(next[i]!) : NEVER;
    }
    sheet.byte(CLOSE);
  }
}

const NEVER: Day = Number.POSITIVE_INFINITY;

const keys: string[] = new Array(LAST_DAY - FIRST_DAY + 1);

/** `,"2024-05-14":`, written once for each day. */
function keyOf(day: Day): string {
  const known = keys[day - FIRST_DAY];
  if (known !== undefined) return known;
  const key = `,"${printDay(day)}":`;
  keys[day - FIRST_DAY] = key;
  return key;
}
