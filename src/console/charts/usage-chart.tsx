import type { UsageDayRecord } from '../api/answers.ts';
import { addDays } from '../data/days.ts';
import { compactCount, count, day, plural } from '../show/format.ts';
import { useWidth } from './use-width.ts';

const HEIGHT = 200;
const LEFT = 56;
const BOTTOM = 22;
const TOP = 10;

/** More than the endpoints that cost units, so that no two of them share a colour. */
const COLOURS = 14;

/** Units by day, stacked by endpoint, with the same numbers as a table for screen readers. */
export function UsageChart({
  days,
  first,
  last,
}: {
  days: readonly UsageDayRecord[];
  first: string;
  last: string;
}) {
  const dates: string[] = [];
  for (let date = first; date <= last; date = addDays(date, 1)) dates.push(date);
  const endpoints = [...new Set(days.map(({ endpoint }) => endpoint))].sort();
  const byDate = Map.groupBy(days, ({ date }) => date);
  const countOf = (date: string, endpoint: string) =>
    byDate.get(date)?.find((one) => one.endpoint === endpoint)?.count ?? 0;
  const sum = (date: string) => (byDate.get(date) ?? []).reduce((all, { count: own }) => all + own, 0);
  const top = niceTop(Math.max(1, ...dates.map(sum)));
  const [figure, width] = useWidth<HTMLElement>(1_100);
  const labelDays = width < 600 ? 10 : 7;
  const step = (width - LEFT) / dates.length;
  const y = (value: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top);
  const total = dates.reduce((all, date) => all + sum(date), 0);
  return (
    <figure class="usage" ref={figure}>
      <svg
        class="usage-chart"
        viewBox={`0 0 ${width} ${HEIGHT}`}
        role="img"
        aria-label={`${plural(total, 'unit')} from ${day(first)} to ${day(last)}`}
      >
        {[0, top / 2, top].map((value) => (
          <g key={value}>
            <line class="grid" x1={LEFT} x2={width} y1={y(value)} y2={y(value)} />
            <text x={LEFT - 8} y={y(value) + 4} text-anchor="end">
              {compactCount(value)}
            </text>
          </g>
        ))}
        {dates.map((date, i) => {
          let below = 0;
          return (
            <g key={date}>
              <title>{`${day(date)}: ${plural(sum(date), 'unit')}`}</title>
              {endpoints.map((endpoint, place) => {
                const own = countOf(date, endpoint);
                if (own === 0) return null;
                below += own;
                const height = Math.max(1, y(0) - y(own));
                return (
                  <rect
                    key={endpoint}
                    class={`usage-${place % COLOURS}`}
                    x={LEFT + i * step + step * 0.12}
                    y={y(below)}
                    width={step * 0.76}
                    height={height}
                    rx="1.5"
                  />
                );
              })}
              {i % labelDays === dates.length % labelDays && (
                <text x={LEFT + i * step + step / 2} y={HEIGHT - 5} text-anchor="middle">
                  {day(date).replace(/ \d{4}$/, '')}
                </text>
              )}
            </g>
          );
        })}
      </svg>
      <ul class="swatches">
        {endpoints.map((endpoint, place) => (
          <li key={endpoint}>
            <i class={`usage-${place % COLOURS}`} />
            {endpoint}{' '}
            {count(days.filter((one) => one.endpoint === endpoint).reduce((all, one) => all + one.count, 0))}
          </li>
        ))}
      </ul>
      <UsageTable dates={dates.filter(sum)} names={endpoints} countOf={countOf} sum={sum} />
    </figure>
  );
}

/** The days with usage. */
function UsageTable({
  dates,
  names,
  countOf,
  sum,
}: {
  dates: readonly string[];
  names: readonly string[];
  countOf: (date: string, name: string) => number;
  sum: (date: string) => number;
}) {
  if (dates.length === 0) return null;
  return (
    <div class="visually-hidden">
      <table>
        <caption>Units by day</caption>
        <thead>
          <tr>
            {['Day', ...names, 'All'].map((name) => (
              <th scope="col" key={name}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {dates.map((date) => (
            <tr key={date}>
              <th scope="row">{day(date)}</th>
              {names.map((name) => (
                <td key={name}>{count(countOf(date, name))}</td>
              ))}
              <td>{count(sum(date))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The next of 2, 4, 10, 20, 40, 100, … so that the half of it is a whole number too. */
function niceTop(value: number): number {
  for (let power = 1; ; power *= 10) {
    for (const step of [2, 4, 10]) if (step * power >= value) return step * power;
  }
}
