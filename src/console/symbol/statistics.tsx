import type { ComponentChildren } from 'preact';
import { useLoad } from '../api/load.ts';
import { useParam } from '../data/route.ts';
import { loadStatistics, type StatisticsOfCloses, type StatisticsOfRange } from '../data/statistics.ts';
import { computedPrice, day, plural } from '../show/format.ts';
import { Failure, Loading } from '../show/parts.tsx';

const ROWS: readonly [title: string, value: (of: StatisticsOfCloses) => ComponentChildren][] = [
  ['Days with a price', ({ count }) => count],
  ['Mean', ({ mean }) => computedPrice(mean)],
  ['Median', ({ median }) => computedPrice(median)],
  ['Lowest close', ({ minimum, minimumDate }) => on(computedPrice(minimum), minimumDate)],
  ['Highest close', ({ maximum, maximumDate }) => on(computedPrice(maximum), maximumDate)],
  ['Standard deviation', ({ standardDeviation }) => known(standardDeviation, computedPrice)],
  ['Volatility, a year', ({ volatility }) => known(volatility, percent)],
  [
    'Largest drawdown',
    ({ maximumDrawdown, peakDate, troughDate }) =>
      on(known(maximumDrawdown, percent), peakDate && troughDate && `${peakDate} ${troughDate}`),
  ],
];

/** Statistics of the days shown, once the user wants them: they cost a unit of the quota. */
export function Statistics({ request, apiKey }: { request: string; apiKey: string }) {
  const [asked, setAsked] = useParam('statistics', '');
  const isWanted = asked !== '';
  const loaded = useLoad(
    async (signal) => (isWanted ? loadStatistics(apiKey, request, signal) : undefined),
    [apiKey, request, isWanted],
  );
  return (
    <section class="card" aria-labelledby="statistics-title">
      <div class="card-head">
        <h2 id="statistics-title">Statistics</h2>
        {!isWanted && (
          <button type="button" class="button small" onClick={() => setAsked('1')}>
            Show statistics
          </button>
        )}
      </div>
      {!isWanted && (
        <p class="hint">
          Mean, volatility, drawdown and correlations of the daily closes in this range. Costs one unit.
        </p>
      )}
      {loaded.state === 'failed' && <Failure error={loaded.error} onRetry={loaded.reload} />}
      {isWanted && loaded.state === 'loading' && <Loading label="Loading statistics" lines={4} />}
      {loaded.data && <StatisticsTable answer={loaded.data} />}
    </section>
  );
}

function StatisticsTable({ answer: { statistics, correlation } }: { answer: StatisticsOfRange }) {
  const codes = Object.keys(statistics);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a keyboard must be able to scroll it
    <section class="scrolled" aria-label="Table of statistics" tabIndex={0}>
      <table class="plain statistics">
        <thead>
          <tr>
            <th scope="col">
              <span class="visually-hidden">Statistic</span>
            </th>
            {codes.map((code) => (
              <th scope="col" class="number" key={code}>
                {code}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {ROWS.map(([title, value]) => (
            <tr key={title}>
              <th scope="row">{title}</th>
              {codes.map((code) => (
                <td class="number" key={code}>
                  {value(statistics[code]!)}
                </td>
              ))}
            </tr>
          ))}
          {codes.length > 1 &&
            codes.map((other) => (
              <tr key={other}>
                <th scope="row">Correlation with {other}</th>
                {codes.map((code) => (
                  <td class="number" key={code}>
                    {correlation[code]?.[other]?.toFixed(2) ?? '—'}
                  </td>
                ))}
              </tr>
            ))}
        </tbody>
      </table>
      <p class="hint">
        Of {plural(codes.length, 'symbol')}, from daily closes. Correlations are those of daily log returns.
      </p>
    </section>
  );
}

/** A value with the day or days it is from below it. */
function on(value: ComponentChildren, dates: string | undefined) {
  if (!dates) return value;
  return (
    <>
      {value} <span class="statistic-day">{dates.split(' ').map(day).join(' – ')}</span>
    </>
  );
}

function known(value: number | undefined, show: (value: number) => string): string {
  return value === undefined ? '—' : show(value);
}

function percent(value: number): string {
  return `${(value * 100).toFixed(2)} %`;
}
