import { useState } from 'preact/hooks';
import { clientOf } from '../api/client.ts';
import { LINE_COLOURS } from '../charts/colours.ts';
import type { PriceDrawing } from '../charts/drawing.ts';
import { type ChartSeries, type History, requestShown } from '../data/chart/history.ts';
import type { DaySpan } from '../data/chart/span.ts';
import { csvOf, fileName } from '../show/csv.ts';
import { day } from '../show/format.ts';
import { Menu } from '../show/menu.tsx';
import { CopyButton, Failure } from '../show/parts.tsx';
import { saveFile } from '../show/save-file.ts';
import { BAR_NAMES } from './legend.tsx';

/** Downloads what the chart shows, and copies the link to it. */
export function ExportTools({
  history,
  series,
  span,
  drawing,
  apiKey,
}: {
  history: History | undefined;
  series: readonly ChartSeries[];
  span: DaySpan;
  drawing: PriceDrawing | undefined;
  apiKey: string;
}) {
  const [error, setError] = useState<unknown>();
  const save = (extension: string, content: () => Promise<Blob> | Blob) => async () => {
    setError(undefined);
    try {
      saveFile(fileName(series, history!.interval, extension), await content());
    } catch (failure) {
      setError(failure);
    }
  };
  const csv = () => new Blob([csvOf(series, span)], { type: 'text/csv' });
  const parquet = async () => {
    const response = await clientOf(apiKey).request(requestShown(history!, span), { format: 'parquet' });
    return new Blob([await response.arrayBuffer()]);
  };
  const png = async () => {
    const { pictureOf } = await import('../charts/picture.ts');
    return pictureOf(drawing!.picture(), textFor(series, history!, span));
  };
  return (
    <div class="tools">
      <Menu label="Download" align="end">
        {(close) => (
          <>
            <button type="button" disabled={!history} onClick={() => void save('csv', csv)().then(close)}>
              CSV
            </button>
            {history?.request.startsWith('/rates/history') && (
              <button
                type="button"
                title="Costs one unit for every 2,000 rows"
                onClick={() => void save('parquet', parquet)().then(close)}
              >
                Parquet
              </button>
            )}
            <button
              type="button"
              disabled={!history || !drawing}
              onClick={() => void save('png', png)().then(close)}
            >
              PNG picture
            </button>
          </>
        )}
      </Menu>
      <CopyButton text={() => location.href}>Copy link</CopyButton>
      {error !== undefined && <Failure error={error} />}
    </div>
  );
}

function textFor(series: readonly ChartSeries[], { interval }: History, { first, last }: DaySpan) {
  const [main] = series;
  const measure = [main!.quote, main!.unit].filter((one) => one !== 'none').join(' per ');
  const sources = [...new Set(series.flatMap(({ source }) => source.split(', ')))].filter(Boolean);
  return {
    title: series.map(({ symbol }) => symbol.name).join(', '),
    subtitle: `${measure ? `${measure}, ` : ''}${BAR_NAMES[interval]}, ${day(first)} – ${day(last)}`,
    lines: series.map(({ symbol }, i) => ({ name: symbol.name, colour: LINE_COLOURS[i]! })),
    footer: `Source: ${sources.join(', ') || 'unknown'} · Openpit`,
  };
}
