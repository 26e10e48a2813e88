import { useMemo } from 'preact/hooks';
import type { Bar, MarketSymbol } from '../data/answers.ts';
import { askWithKey } from '../data/client.ts';
import { addDays } from '../data/days.ts';
import { has } from '../data/features.ts';
import { useLoad } from '../data/load.ts';
import type { Mark } from './candles.tsx';
import { day, price } from './format.ts';

interface Revision {
  date: string;
  close: number;
  recordedAt: string;
  source: string;
}

const PATH = '/rates/revisions';
const DAYS = 30;

/** The corrections of the last days, where the service tells them. */
export function useRevisions(key: string, { symbol }: MarketSymbol, bars: readonly Bar[] | undefined) {
  const last = bars?.at(-1)?.date;
  const loaded = useLoad(async () => {
    if (!has(PATH) || last === undefined) return [];
    const query = new URLSearchParams({ symbols: symbol, startDate: addDays(last, -DAYS), endDate: last });
    return readRevisions(await askWithKey(key, `${PATH}?${query}`), symbol);
  }, [key, symbol, last]);
  const found = loaded.data ?? [];
  const marks = useMemo((): Mark[] => {
    const shown = new Set(bars?.map(({ date }) => date));
    return [...new Set(found.map(({ date }) => date))]
      .filter((date) => shown.has(date))
      .sort()
      .map((date) => ({ date, text: 'corrected' }));
  }, [found, bars]);
  return { found, marks };
}

export function Revisions({ found }: { found: readonly Revision[] }) {
  if (found.length === 0) return null;
  return (
    <section class="card" aria-labelledby="revisions-title">
      <h2 id="revisions-title">Corrections of the last days</h2>
      <div class="scroll">
        <table class="plain">
          <thead>
            <tr>
              <th scope="col">Day</th>
              <th scope="col">Close</th>
              <th scope="col">Recorded</th>
              <th scope="col">Source</th>
            </tr>
          </thead>
          <tbody>
            {found.map(({ date, close, recordedAt, source }) => (
              <tr key={`${date} ${recordedAt}`}>
                <td>{day(date)}</td>
                <td>{price(close)}</td>
                <td>{recordedAt.replace('T', ' ').slice(0, 16)}</td>
                <td>{source}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** The days that were published more than once: `revisions: { SYM: { date: [revision, …] } }`. */
function readRevisions(answer: unknown, symbol: string): Revision[] {
  const days =
    (answer as { revisions?: Record<string, Record<string, Revision[]>> }).revisions?.[symbol] ?? {};
  return Object.entries(days)
    .filter(([, all]) => Array.isArray(all) && all.length > 1)
    .flatMap(([date, all]) => all.map((one) => ({ ...one, date })));
}
