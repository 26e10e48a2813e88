import type { Day } from './day.ts';

export interface Ohlc {
  open: number;
  high: number;
  low: number;
  close: number;
}

/** One day's prices of one symbol, as one source published them. */
export interface Bar extends Ohlc {
  day: Day;
}

/** Describes a bar whose open or close lies outside of its low and high; undefined if it is consistent. */
export function inconsistency({ open, high, low, close }: Ohlc): string | undefined {
  if (low <= Math.min(open, close, high) && high >= Math.max(open, close)) return undefined;
  return `open ${open}, high ${high}, low ${low}, close ${close} do not fit together`;
}

/** One price at one moment. */
export interface Tick {
  /** When the price was made, in ms. */
  at: number;
  /** When this service received it, in ms. */
  received: number;
  price: number;
  /** The sender's id: the same tick sent twice is one tick. */
  id: string;
}

/** Ticks folded to a bar, with what is needed to add more ticks in any order. */
export interface Fold<T extends Tick = Tick> {
  open: T;
  close: T;
  high: number;
  low: number;
}

/** Folding is commutative and idempotent: open and close depend on the order of ticks, high and low on prices. */
export function foldTick<T extends Tick>(fold: Fold<T> | undefined, tick: T): Fold<T> {
  if (!fold) return { open: tick, close: tick, high: tick.price, low: tick.price };
  return {
    open: isBefore(tick, fold.open) ? tick : fold.open,
    close: isBefore(fold.close, tick) ? tick : fold.close,
    high: Math.max(fold.high, tick.price),
    low: Math.min(fold.low, tick.price),
  };
}

export function ohlcOf(fold: Fold): Ohlc {
  return { open: fold.open.price, high: fold.high, low: fold.low, close: fold.close.price };
}

export function sameOhlc(a: Ohlc, b: Ohlc): boolean {
  return a.open === b.open && a.high === b.high && a.low === b.low && a.close === b.close;
}

/** Orders ticks by time, then id, then price: two sources may use the same id. */
export function isBefore(a: Tick, b: Tick): boolean {
  if (a.at !== b.at) return a.at < b.at;
  return a.id === b.id ? a.price < b.price : a.id < b.id;
}
