import type { Board } from '../../board/board.ts';
import { SymbolSeries } from '../../board/series/symbol-series.ts';
import type { View } from '../../board/views/view.ts';
import type { Day } from '../../market/day.ts';
import { QUARTER_MS } from '../../market/zone.ts';
import { SECOND_MS } from '../../runtime/durations.ts';

/** What an answer was built from. */
export interface AnswerSources {
  board: Board;
  view: View;
  series: readonly SymbolSeries[];
  /** The newest version of any series when it was built. */
  version: number;
  /** The time that it was built for, in ms. */
  now: number;
  /** Whether it can change every second: dates of series that are not loaded advance with the clock. */
  changesEverySecond: boolean;
  /** The last day that it depends on; undefined if it depends on the newest prices. */
  lastDay?: Day | undefined;
}

/** Measured memory of an instance, and of each reference to a series. */
const OBJECT_BYTES = 200;
const SERIES_BYTES = 8;

/**
 * How long an answer stays valid: until one of its series or the catalogue changes, or the time makes a difference. A new price
 * does not change an answer about earlier days. Sessions open, days begin and zones change their offset at quarters of an
 * hour, of the clock or of the plan's horizon. A price also becomes stale when its feed is late.
 */
export class AnswerValidity {
  readonly #board: Board;
  readonly #view: View;
  /** The first `#pastOnlyCount` contribute only days before their newest one. */
  readonly #series: readonly SymbolSeries[];
  readonly #pastOnlyCount: number;
  readonly #catalogId: number;
  /** The version up to which none of the series has changed. */
  #version: number;
  readonly #from: number;
  readonly #until: number;

  constructor({ board, view, series, version, now, changesEverySecond, lastDay }: AnswerSources) {
    this.#board = board;
    this.#view = view;
    const hasPassed = (one: SymbolSeries) =>
      lastDay !== undefined && view.version(one) <= version && view.hasPassed(one, lastDay);
    const passed = series.filter(hasPassed);
    this.#pastOnlyCount = passed.length;
    this.#series = [...passed, ...series.filter((one) => !hasPassed(one))];
    this.#catalogId = board.catalog.id;
    this.#version = version;
    const { delayMs } = view;
    const [quarter, ofHorizon] = [startOf(now, QUARTER_MS), startOf(now - delayMs, QUARTER_MS) + delayMs];
    const second = startOf(now, SECOND_MS);
    this.#from = changesEverySecond ? second : Math.max(quarter, ofHorizon);
    let until = Math.min(quarter, ofHorizon) + QUARTER_MS;
    for (const { lateFrom } of series) {
      const lateAt = lateFrom + delayMs;
      if (lateAt >= now && lateAt < until) until = lateAt;
    }
    this.#until = changesEverySecond ? Math.min(until, second + SECOND_MS) : until;
  }

  get bytes(): number {
    return OBJECT_BYTES + SERIES_BYTES * this.#series.length;
  }

  isValidAt(now: number): boolean {
    if (now < this.#from || now >= this.#until || this.#board.catalog.id !== this.#catalogId) return false;
    if (this.#version === SymbolSeries.lastVersion) return true;
    for (let i = 0; i < this.#series.length; i++) if (this.#versionOf(i) > this.#version) return false;
    this.#version = SymbolSeries.lastVersion;
    return true;
  }

  #versionOf(index: number): number {
    const series = this.#series[index]!;
    return index < this.#pastOnlyCount ? this.#view.pastVersion(series) : this.#view.version(series);
  }
}

function startOf(ms: number, span: number): number {
  return Math.floor(ms / span) * span;
}
