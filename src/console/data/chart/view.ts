import { useCallback, useLayoutEffect, useState } from 'preact/hooks';
import { readParams, writeParams } from '../route.ts';
import { INTRADAY_INTERVALS } from './intraday.ts';
import { type BarInterval, CALENDAR_INTERVALS, RANGES, type Range } from './span.ts';

export const CHART_TYPES = ['candles', 'line', 'area'] as const;
export type ChartType = (typeof CHART_TYPES)[number];

export const SCALES = ['linear', 'log', 'percent'] as const;
export type Scale = (typeof SCALES)[number];

/** The lengths of the moving averages that can be drawn. */
export const AVERAGES = [10, 20, 50, 100, 200] as const;

/** More lines than this cannot be told apart. */
export const COMPARED_MAX = 5;

/** What a chart shows, all of it in the URL. Undefined: the page decides. */
export interface ChartView {
  range: Range | undefined;
  /** A range of one's own choice, instead of `range`. */
  dates: { first: string; last: string } | undefined;
  interval: BarInterval | undefined;
  /** Codes or formulas. */
  compare: readonly string[];
  /** The symbol's own, if undefined. */
  currency: string | undefined;
  unit: string | undefined;
  type: ChartType | undefined;
  scale: Scale | undefined;
  averages: readonly number[];
}

/** Changes parts of the view. */
export type ChangeView = (change: Partial<ChartView>) => void;

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Reads the view from the parameters of a URL. What is not valid is left out. */
export function readView(params: URLSearchParams): ChartView {
  const [from, to] = [params.get('from') ?? '', params.get('to') ?? ''];
  return {
    range: oneOf(RANGES, params.get('range')),
    dates: isDate(from) && isDate(to) && from <= to ? { first: from, last: to } : undefined,
    interval: oneOf([...INTRADAY_INTERVALS, ...CALENDAR_INTERVALS], params.get('interval')),
    compare: [...new Set(listOf(params.get('compare')).map((code) => code.toUpperCase()))].slice(
      0,
      COMPARED_MAX,
    ),
    currency: params.get('currency')?.toUpperCase() || undefined,
    unit: params.get('unit') || undefined,
    type: oneOf(CHART_TYPES, params.get('type')),
    scale: oneOf(SCALES, params.get('scale')),
    averages: AVERAGES.filter((length) => listOf(params.get('average')).includes(String(length))),
  };
}

/** The parameters of a view; undefined for those that are left out. */
export function paramsOf(view: ChartView): Record<string, string | undefined> {
  return {
    range: view.range,
    from: view.dates?.first,
    to: view.dates?.last,
    interval: view.interval,
    compare: view.compare.join(',') || undefined,
    currency: view.currency,
    unit: view.unit,
    type: view.type,
    scale: view.scale,
    average: view.averages.join(',') || undefined,
  };
}

/** The view in the URL, and how to change parts of it. */
export function useChartView(): [ChartView, ChangeView] {
  const [view, setView] = useState(() => readView(readParams()));
  useLayoutEffect(() => {
    const onChange = () => setView(readView(readParams()));
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  }, []);
  const change = useCallback((part: Partial<ChartView>) => {
    const next = { ...readView(readParams()), ...part };
    writeParams(paramsOf(next));
    setView(next);
  }, []);
  return [view, change];
}

function listOf(text: string | null): string[] {
  return (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function oneOf<T extends string>(options: readonly T[], text: string | null): T | undefined {
  return options.find((option) => option === text);
}

function isDate(text: string): boolean {
  return DATE.test(text) && !Number.isNaN(Date.parse(text)) && new Date(text).toISOString().startsWith(text);
}
