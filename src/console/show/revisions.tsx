import { useMemo } from 'preact/hooks';
import type { Bar, MarketSymbol } from '../data/answers.ts';
import { askWithKey } from '../data/client.ts';
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

interface RevisionsAnswer {
  rates: Record<string, Omit<Revision, 'date'>[]>;
}

const PATH = '/rates/revisions';
/** Each day is a request and a unit of the quota, so only the last days are looked at: most corrections come soon. */
const DAYS = 3;

/** The corrections of the last days, where the service tells them. */
export function useRevisions(key: string, { symbol }: MarketSymbol, bars: readonly Bar[] | undefined) {
  const last = bars?.at(-1)?.date;
  const loaded = useLoad(async () => {
    if (!has(PATH)) return [];
    const days = (bars ?? []).slice(-DAYS).map(({ date }) => date);
    return (await Promise.all(days.map((date) => corrections(key, symbol, date)))).flat();
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

/** The versions of a day that was published more than once. */
async function corrections(key: string, symbol: string, date: string): Promise<Revision[]> {
  const query = new URLSearchParams({ symbols: symbol, date });
  const { rates } = await askWithKey<RevisionsAnswer>(key, `${PATH}?${query}`);
  const versions = rates[symbol] ?? [];
  return versions.length > 1 ? versions.map((one) => ({ ...one, date })) : [];
}
