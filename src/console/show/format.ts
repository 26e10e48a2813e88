/** Numbers and times as the page shows them. */

const GROUPED = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

const DECIMALS_MIN = 2;
/** As many as all browsers can print. */
const DECIMALS_MAX = 20;

/** A price with the decimals it was published with, two at least. */
export function price(value: number): string {
  return priceWith(value, decimalsOf(value));
}

export function priceWith(value: number, decimals: number): string {
  return value
    .toLocaleString('en-US', {
      minimumFractionDigits: decimals,
      maximumFractionDigits: decimals,
      signDisplay: 'negative', // not for a zero
    })
    .replace('-', '−');
}

/** A computed price, which has more digits than are useful: six significant ones, with two decimals at least. */
export function computedPrice(value: number): string {
  return priceWith(value, computedDecimals(value));
}

export function computedDecimals(value: number): number {
  if (value === 0) return DECIMALS_MIN;
  return within(5 - Math.floor(Math.log10(Math.abs(value))));
}

/** A change with its sign: color alone is not accessible to everyone. */
export function signed(value: number, decimals = 2): string {
  const text = priceWith(Math.abs(value), decimals);
  const isZero = Number(Math.abs(value).toFixed(decimals)) === 0;
  return `${isZero ? '±' : value > 0 ? '+' : '−'}${text}`;
}

export function decimalsOf(value: number): number {
  const [digits = '', exponent = '0'] = String(value).split('e');
  return within((digits.split('.')[1]?.length ?? 0) - Number(exponent));
}

function within(decimals: number): number {
  return Math.min(Math.max(decimals, DECIMALS_MIN), DECIMALS_MAX);
}

export const UNLIMITED = 'unlimited';

export function count(value: number): string {
  return value >= 1e14 ? UNLIMITED : GROUPED.format(value);
}

const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });

/** For the axis of a chart, whose labels have room for seven characters. */
export function compactCount(value: number): string {
  return value < 100_000 ? count(value) : COMPACT.format(value);
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** 'rise', 'fall' or 'flat': the class that colours a change. */
export function trend(value: number | undefined): 'rise' | 'fall' | 'flat' {
  if (value === undefined || value === 0) return 'flat';
  return value > 0 ? 'rise' : 'fall';
}

/** The same for a change in percent, as `signed` shows it: one that rounds to nothing is flat. */
export function percentTrend(percent: number | undefined): 'rise' | 'fall' | 'flat' {
  return trend(percent === undefined ? undefined : Number(percent.toFixed(2)));
}

/** A day as people write it. */
export function day(date: string): string {
  const at = Date.parse(date.slice(0, 10));
  if (Number.isNaN(at)) return date;
  return new Date(at).toLocaleDateString('en-GB', {
    timeZone: 'UTC',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
  });
}

/** A day, or an instant to the minute. */
export function dayOrTime(date: string): string {
  return date.includes('T') ? `${day(date)}, ${date.slice(11, 16)} UTC` : day(date);
}

export function dayOfSeconds(seconds: number): string {
  return day(new Date(seconds * 1000).toISOString());
}

/** How long ago a moment was, or the day if only that is known. */
export function ago(at: string, now = Date.now()): string {
  if (!at.includes('T')) return day(at);
  const seconds = Math.max(0, Math.round((now - Date.parse(at)) / 1000));
  if (seconds < 5) return 'now';
  if (seconds < 90) return `${seconds} s ago`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 36 * 3600) return `${Math.round(seconds / 3600)} h ago`;
  return day(at);
}

/** How long until a moment. */
export function timeUntil(at: string, now = Date.now()): string {
  const seconds = Math.round((Date.parse(at) - now) / 1000);
  if (seconds <= 0) return 'due now';
  if (seconds < 90) return `in ${seconds} s`;
  if (seconds < 90 * 60) return `in ${Math.round(seconds / 60)} min`;
  if (seconds < 36 * 3600) return `in ${Math.round(seconds / 3600)} h`;
  return day(at);
}

/** A moment to the second, in UTC. */
export function moment(at: string): string {
  return `${day(at)}, ${at.slice(11, 19)} UTC`;
}

export function duration(seconds: number): string {
  if (seconds === 0) return 'none';
  if (seconds < 90) return `${seconds} s`;
  if (seconds % 3600 === 0) return `${seconds / 3600} h`;
  if (seconds < 3 * 3600) return `${Math.round(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

/** A masked key, for display. */
export function masked(key: string): string {
  return key.length > 16 ? `${key.slice(0, 9)}…${key.slice(-4)}` : key;
}
