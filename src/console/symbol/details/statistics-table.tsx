import type { ComponentChildren } from 'preact';
import type { Statistics } from '../../../../client/src/index.ts';
import { computedPrice, count, day, priceWith } from '../../show/format.ts';

type StatisticsOfCloses = Statistics['statistics'][string];

const ROWS: readonly [title: string, value: (of: StatisticsOfCloses) => ComponentChildren][] = [
  ['Days with a price', ({ count: days }) => count(days)],
  ['Mean', ({ mean }) => computedPrice(mean)],
  ['Median', ({ median }) => computedPrice(median)],
  ['Lowest close', ({ minimum, minimumDate }) => withDates(computedPrice(minimum), minimumDate)],
  ['Highest close', ({ maximum, maximumDate }) => withDates(computedPrice(maximum), maximumDate)],
  ['Standard deviation', ({ standardDeviation }) => orDash(standardDeviation, computedPrice)],
  ['Annualised volatility', ({ volatility }) => orDash(volatility, percent)],
  [
    'Largest drawdown',
    ({ maximumDrawdown, peakDate, troughDate }) =>
      withDates(orDash(maximumDrawdown, percent), peakDate, troughDate),
  ],
];

/** The statistics of each symbol, and the correlations between them. */
export function StatisticsTable({ answer: { statistics, correlation } }: { answer: Statistics }) {
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
                    {orDash(correlation[code]?.[other], (value) => priceWith(value, 2))}
                  </td>
                ))}
              </tr>
            ))}
        </tbody>
      </table>
      <p class="hint">
        From closes.{codes.length > 1 && ' Correlations are those of log returns between common days.'}
      </p>
    </section>
  );
}

/** A value, and below it the day or days it is from, if they are known. */
function withDates(value: ComponentChildren, ...dates: readonly (string | undefined)[]) {
  const days = dates.filter((date) => date !== undefined).map(day);
  if (days.length < dates.length) return value;
  return (
    <>
      {value} <span class="statistic-day">{days.join(' – ')}</span>
    </>
  );
}

function orDash(value: number | undefined, show: (value: number) => string): string {
  return value === undefined ? '—' : show(value);
}

function percent(value: number): string {
  return `${(value * 100).toFixed(2)} %`;
}
