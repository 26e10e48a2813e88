import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Holder, WithKey } from '../account/with-key.tsx';
import type { ConfigAnswer, MarketSymbol } from '../api/answers.ts';
import { isAboutKey, OpenpitError } from '../api/client.ts';
import type { CorrectionMark, PriceDrawing } from '../charts/drawing.ts';
import { identityOf, requestsFor, withoutOthers } from '../data/chart/history.ts';
import { useLiveSeries } from '../data/chart/live-bars.ts';
import { useChartRequest } from '../data/chart/request.ts';
import { useChanges } from '../data/chart/use-changes.ts';
import { useHeadline } from '../data/chart/use-headline.ts';
import { useHistory } from '../data/chart/use-history.ts';
import { useChartView } from '../data/chart/view.ts';
import { today } from '../data/days.ts';
import { codesIn } from '../data/formula.ts';
import type { MarketStore } from '../data/market/store.ts';
import { useMarket, useMarketRow } from '../data/market/use-market.ts';
import { useQuotes } from '../data/market/use-quotes.ts';
import { type Unit, useMeasures } from '../data/units.ts';
import { lazy } from '../show/lazy.tsx';
import { Failure, Loading, Notice, ShownError } from '../show/parts.tsx';
import { ChartArea, styleOf } from '../symbol/chart-area.tsx';
import { AverageTools, DrawingTools, RangeTools } from '../symbol/chart-tools.tsx';
import { Details } from '../symbol/details/details.tsx';
import { ExportTools } from '../symbol/export-tools.tsx';
import { MeasureTools } from '../symbol/measure-tools.tsx';
import { Title } from '../symbol/title.tsx';
import { withinPlan } from '../symbol/within-plan.ts';

const NoSymbol = lazy(async () => (await import('../symbol/no-symbol.tsx')).NoSymbol, 'chart');

/** More requests than this need confirmation: they cost quota. */
const REQUESTS_UNASKED_MAX = 15;

export function SymbolPage({ code, config }: { code: string; config: ConfigAnswer }) {
  if (codesIn(code).length === 0) return <NoSymbol code={code} />;
  return (
    <WithKey config={config} shape="chart">
      {(holder) => <Found code={code} holder={holder} />}
    </WithKey>
  );
}

function Found({ code, holder }: { code: string; holder: Holder }) {
  const [{ compare }] = useChartView();
  const store = useMarket(holder.apiKey, [code, ...compare].flatMap(codesIn));
  const symbol = store.find(code);
  const { error } = store;
  const isUnknown = error instanceof OpenpitError && error.code === 'unknown_symbol';
  const isPerhapsCompared = isUnknown && compare.length > 0;
  const isUnclear = !symbol && (isPerhapsCompared || store.hasWanted);
  useEffect(() => {
    if (isUnclear) store.loadAll(); // among all symbols, the page's own one is found if it exists
  }, [isUnclear]);
  const isMissing = !symbol && store.searchable.isComplete;
  useEffect(() => {
    if (isMissing) store.lookFor(code);
  }, [isMissing, code]);
  if (!symbol) {
    if ((isUnknown && !isPerhapsCompared) || store.searchable.isComplete)
      return <NoSymbol code={code} message={isUnknown ? error.message : ''} store={store} />;
    if (error !== undefined && !isUnknown) return <Failure error={error} onRetry={store.refresh} />;
    return <Loading label={`Loading ${code}`} shape="chart" />;
  }
  if (symbol.lastDate === null) return <NoPrices symbol={symbol} />;
  return <Detail symbol={symbol} store={store} holder={holder} />;
}

/** The market store polls for prices, so the first one appears without a reload. */
function NoPrices({ symbol }: { symbol: MarketSymbol }) {
  return (
    <>
      <Title symbol={symbol} />
      <Notice title="No prices yet.">
        {symbol.name} is in the catalogue but has no prices so far. The chart appears automatically with the
        first price.
      </Notice>
    </>
  );
}

function Detail({ symbol, store, holder }: { symbol: MarketSymbol; store: MarketStore; holder: Holder }) {
  const { apiKey, plan } = holder;
  const [view, change] = useChartView();
  const measures = useMeasures(apiKey, symbol);
  /** The service takes units in any case. */
  const isWanted = ({ unit }: Unit) => unit.toLowerCase() === view.unit?.toLowerCase();
  const unit = measures.units.find(isWanted) ?? measures.units[0]!;
  const symbols = useMemo(() => {
    const compared = view.compare.map((code) => store.find(code)).filter((one) => one !== undefined);
    const byCode = new Map([symbol, ...compared].map((one) => [one.symbol, one])); // two codes may be for one symbol
    return withinPlan([...byCode.values()], plan);
  }, [symbol, view.compare.join(), store.symbols, plan]);
  const { range, span, interval, wanted, withoutMinutes } = useChartRequest(symbols.shown, view, plan, store);
  const [agreed, setAgreed] = useState('');
  const requests = requestsFor(wanted, plan);
  const mustAsk = requests > REQUESTS_UNASKED_MAX && agreed !== wanted.first;
  const history = useHistory(apiKey, plan, mustAsk || withoutMinutes ? undefined : wanted);
  useMarketRow(store, symbol.symbol);
  const { data } = history;
  const isIncomplete = data !== undefined && data.last >= today() && data.askedAt < store.unbrokenSince;
  useEffect(() => {
    if (isIncomplete) history.refresh();
  }, [isIncomplete]);
  /** The days of the bars that are shown. A new range takes effect when its bars have loaded. */
  const shown = useRef(span);
  if (data?.id === identityOf(wanted)) shown.current = span;
  const isForbidden = isAboutKey(history.error) || isAboutKey(store.error);
  useEffect(() => {
    if (isForbidden) holder.reload();
  }, [isForbidden]);
  const quoteOf = useQuotes(store, symbols.shown);
  const quote = quoteOf(symbol);
  const live = useLiveSeries(data, quoteOf);
  const series = useMemo(() => withoutOthers(live, shown.current.first), [live, shown.current.first]);
  useChanges(apiKey, history, store.rows);
  const headline = useHeadline(apiKey, plan, symbol, quote, unit, wanted, data);
  const [marks, setMarks] = useState<readonly CorrectionMark[]>([]);
  const [drawing, setDrawing] = useState<PriceDrawing>();
  const style = styleOf(view, series);
  return (
    <>
      <Title symbol={symbol} headline={headline} delaySeconds={plan.delaySeconds} />
      {store.error !== undefined && <Failure error={store.error} onRetry={store.refresh} />}
      <ShownError.Provider value={store.error}>
        <section class="card chart-card" aria-label="Chart">
          <div class="chart-tools">
            <RangeTools
              view={view}
              range={range}
              span={span}
              firstDate={symbol.firstDate}
              onChange={change}
            />
            <DrawingTools {...style} onChange={change} />
          </div>
          <div class="chart-tools finer">
            <div class="tools">
              <MeasureTools
                symbols={symbols}
                plan={plan}
                market={store.searchable}
                onSearch={store.loadAll}
                view={view}
                unit={unit.unit}
                measures={measures}
                interval={interval}
                onChange={change}
              />
              <AverageTools averages={view.averages} scale={style.scale} onChange={change} />
            </div>
            <ExportTools
              history={data}
              series={series}
              span={shown.current}
              drawing={drawing}
              apiKey={apiKey}
            />
          </div>
          <ChartArea
            history={history}
            series={series}
            view={view}
            style={style}
            shownFrom={span.first}
            marks={marks}
            obstacle={withoutMinutes ?? (mustAsk ? requests : undefined)}
            plan={plan.name}
            onLoad={() => setAgreed(wanted.first)}
            onChange={change}
            onRemove={(code) =>
              change({ compare: view.compare.filter((one) => store.find(one)?.symbol !== code) })
            }
            onDrawing={setDrawing}
          />
        </section>
        {data && (
          <Details
            symbol={symbol}
            headline={headline}
            quoteOf={quoteOf}
            history={data}
            series={series}
            span={shown.current}
            units={measures.units}
            holder={holder}
            onMarks={setMarks}
          />
        )}
      </ShownError.Provider>
    </>
  );
}
