import { useState } from 'preact/hooks';
import { loadModule } from '../api/load-module.ts';
import { LINE_COLOURS } from '../charts/colours.ts';
import type { PriceDrawing } from '../charts/drawing.ts';
import { type ChartSeries, type History, isOfFirstSymbol, requestShown } from '../data/chart/history.ts';
import type { DaySpan } from '../data/chart/span.ts';
import { Menu } from '../show/menu.tsx';
import { CopyButton, Failure } from '../show/parts.tsx';
import { BAR_NAMES } from './legend.tsx';
import type { ExportFormat } from './save-chart.ts';

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
  const save = async (format: ExportFormat, close: () => void) => {
    close(); // a second click would be a second download
    setError(undefined);
    try {
      const { saveChart } = await loadModule(() => import('./save-chart.ts'), setError);
      const { interval } = history!;
      await saveChart(format, {
        request: requestShown(history!, span),
        interval,
        intervalName: BAR_NAMES[interval],
        series,
        colours: LINE_COLOURS,
        span,
        drawing,
        apiKey,
      });
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <div class="tools">
      <Menu label="Download" align="end">
        {(close) => (
          <>
            <button type="button" disabled={!history} onClick={() => save('csv', close)}>
              CSV
            </button>
            {history?.request.startsWith('/rates/history') && (
              <button
                type="button"
                title="Costs one unit for every 2,000 rows"
                onClick={() => save('parquet', close)}
              >
                {isOfFirstSymbol(history) ? `Parquet (${series[0]!.symbol.symbol} only)` : 'Parquet'}
              </button>
            )}
            <button type="button" disabled={!history || !drawing} onClick={() => save('png', close)}>
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
