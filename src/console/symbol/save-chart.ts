import { clientOf } from '../api/client.ts';
import type { PriceDrawing } from '../charts/drawing.ts';
import { pictureOf } from '../charts/picture.ts';
import type { ChartSeries } from '../data/chart/history.ts';
import type { BarInterval, DaySpan } from '../data/chart/span.ts';
import { csvOf, fileName } from '../output/csv.ts';
import { saveFile } from '../output/save-file.ts';
import { day } from '../show/format.ts';

export type ExportFormat = 'csv' | 'parquet' | 'png';

/**
 * What a chart shows. It includes all that saving needs from the page of a symbol, because an import from there would make the
 * bundler split that page into more files.
 */
export interface ShownChart {
  /** For exactly these bars. */
  request: string;
  interval: BarInterval;
  intervalName: string;
  series: readonly ChartSeries[];
  /** Of each series. */
  colours: readonly string[];
  span: DaySpan;
  drawing: PriceDrawing | undefined;
  apiKey: string;
}

/** Saves what a chart shows to a file. */
export async function saveChart(format: ExportFormat, chart: ShownChart): Promise<void> {
  const { series, interval, request } = chart;
  const isOfFirst = format === 'parquet' && request.includes('&unit='); // which is not for the compared symbols
  saveFile(
    fileName(isOfFirst ? series.slice(0, 1) : series, interval, format),
    await contentOf(format, chart),
  );
}

async function contentOf(format: ExportFormat, chart: ShownChart): Promise<Blob> {
  const { request, series, span, drawing, apiKey } = chart;
  if (format === 'csv') return new Blob([csvOf(series, span)], { type: 'text/csv' });
  if (format === 'png') return pictureOf(drawing!.picture(), textFor(chart));
  const response = await clientOf(apiKey).request(request, { format });
  return new Blob([await response.arrayBuffer()]);
}

function textFor({ series, intervalName, colours, span: { first, last } }: ShownChart) {
  const [main] = series;
  const measure = [main!.quote, main!.unit].filter((one) => one !== 'none').join(' per ');
  const sources = [...new Set(series.flatMap(({ source }) => source.split(', ')))].filter(Boolean);
  return {
    title: series.map(({ symbol }) => symbol.name).join(', '),
    subtitle: `${measure ? `${measure}, ` : ''}${intervalName}, ${day(first)} – ${day(last)}`,
    lines: series.map(({ symbol }, i) => ({ name: symbol.name, colour: colours[i]! })),
    footer: `Source: ${sources.join(', ') || 'unknown'} · Openpit`,
  };
}
