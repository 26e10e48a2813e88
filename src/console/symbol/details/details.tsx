import { useMemo } from 'preact/hooks';
import type { Holder } from '../../account/with-key.tsx';
import type { MarketSymbol } from '../../api/answers.ts';
import type { CorrectionMark } from '../../charts/drawing.ts';
import type { Headline } from '../../data/chart/headline.ts';
import { type ChartSeries, type History, isOfFirstSymbol, requestShown } from '../../data/chart/history.ts';
import { isIntraday } from '../../data/chart/intraday.ts';
import type { DaySpan } from '../../data/chart/span.ts';
import type { QuoteOf } from '../../data/market/use-quotes.ts';
import { useParam } from '../../data/route.ts';
import type { Unit } from '../../data/units.ts';
import { Ranges } from './ranges.tsx';
import { RequestCard } from './request.tsx';
import { Revisions } from './revisions.tsx';
import { Sources } from './sources.tsx';
import { StatisticsCard } from './statistics.tsx';
import { Conversions, Facts } from './symbol-facts.tsx';

/** What the page says below the chart. */
export function Details({
  symbol,
  headline,
  quoteOf,
  history,
  series,
  span,
  units,
  holder,
  onMarks,
}: {
  symbol: MarketSymbol;
  headline: Headline | undefined;
  quoteOf: QuoteOf;
  history: History;
  /** With the newest price. */
  series: readonly ChartSeries[];
  span: DaySpan;
  units: readonly Unit[];
  holder: Holder;
  onMarks: (marks: readonly CorrectionMark[]) => void;
}) {
  const { apiKey } = holder;
  const [corrections, setCorrections] = useParam('corrections', '');
  const request = requestShown(history, span);
  const [main] = series;
  const shownBars = useMemo(
    () => (history.series[0]?.bars ?? []).filter(({ date }) => date >= span.first),
    [history, span.first],
  );
  const quote = quoteOf(symbol);
  /** Statistics and corrections are those of days. */
  const isDaily = !isIntraday(history.interval);
  return (
    <>
      {main && <Ranges series={main} history={history} shownFrom={span.first} />}
      <Facts symbol={symbol} headline={headline} holder={holder} />
      <Sources series={series} history={history} quoteOf={quoteOf} apiKey={apiKey} />
      {headline && quote && (
        <Conversions symbol={symbol} units={units} rate={quote.rate} headline={headline} />
      )}
      {isDaily && <StatisticsCard request={request} askedAt={history.askedAt} apiKey={apiKey} />}
      <RequestCard
        path={request}
        apiKey={apiKey}
        requests={history.requests}
        only={isOfFirstSymbol(history) ? symbol.name : undefined}
      />
      {isDaily && symbol.formula === undefined && (
        <Revisions
          isWanted={corrections !== ''}
          onWant={() => setCorrections('1')}
          apiKey={apiKey}
          symbol={symbol}
          bars={shownBars}
          askedAt={history.askedAt}
          onMarks={onMarks}
        />
      )}
    </>
  );
}
