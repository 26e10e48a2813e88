import type { Quote } from '../../api/answers.ts';
import { clientOf } from '../../api/client.ts';
import { addDays, today } from '../days.ts';
import { isSimulated } from '../simulated.ts';
import type { History } from './history.ts';

/** Loading costs a unit, so while prices keep changing, each wait is twice as long as the one before. */
const WAIT_MS = 60_000;
const WAIT_MS_MAX = 3_600_000;

/** Every market is past the day before yesterday. The quotes tell about the days since. */
const OPEN_DAYS = 2;

type Quotes = readonly (Quote | undefined)[];

/** What is known for free about the past of a chart: from the quotes, and the tag of the request for the closed days. */
interface Past {
  id: string;
  quoted: string;
  path: string | undefined;
  etag: string | undefined;
}

/** Watches the past of a chart. */
export class ChangeWatch {
  readonly #key: string;
  #seen: Past | undefined;
  #waitMs = WAIT_MS;
  #waitsUntil = 0;

  constructor(key: string) {
    this.#key = key;
  }

  /** Whether the past has changed since it was loaded, or since this was last true. `codes`: what the history is made of. */
  async hasChanged(
    history: History,
    codes: readonly string[],
    loaded: Quotes,
    now: Quotes,
  ): Promise<boolean> {
    const { id } = history;
    if (this.#seen?.id !== id) this.#seen = { id, quoted: pastIn(loaded), path: undefined, etag: undefined };
    const quoted = pastIn(now);
    const path = closedRequest(history, codes);
    const etag = path && (await this.#etagOf(path));
    const before = this.#seen;
    if (before.id !== id) return false;
    const etagBefore = before.path === path ? before.etag : undefined;
    const isOther = etag !== undefined && etagBefore !== undefined && etag !== etagBefore;
    const isChanged = isOther || quoted !== before.quoted;
    const waited = Date.now() - this.#waitsUntil;
    if (isChanged && waited < 0) return false;
    this.#seen = { id, quoted, path, etag: etag ?? etagBefore };
    if (isChanged) {
      this.#waitMs = waited > this.#waitMs ? WAIT_MS : Math.min(2 * this.#waitMs, WAIT_MS_MAX);
      this.#waitsUntil = Date.now() + this.#waitMs;
    }
    return isChanged;
  }

  async #etagOf(path: string): Promise<string | undefined> {
    const response = await clientOf(this.#key)
      .request(path, {}, { method: 'HEAD' })
      .catch(() => undefined); // the next check tries again
    return response?.headers.get('etag') ?? undefined;
  }
}

/** What changes in the quotes with the past, but not with newer prices. */
function pastIn(quotes: Quotes): string {
  return JSON.stringify(quotes.map((quote) => quote && [quote.before, isSimulated(quote.source)]));
}

/** The request for those days of a history that have ended everywhere; undefined if there are none. */
function closedRequest({ request }: History, codes: readonly string[]): string | undefined {
  const [path, query] = request.split('?');
  const params = new URLSearchParams(query);
  const [start, last] = ['startDate', 'endDate'].map((name) => params.get(name)!);
  const first = start!.slice(0, 10);
  const end = [last!.slice(0, 10), addDays(today(), -OPEN_DAYS)].sort()[0]!;
  if (first > end) return undefined;
  // HEAD is not free for formulas, nor for bars shorter than a day.
  params.set('symbols', codes.join());
  if (start !== first) params.delete('interval');
  params.delete('unit');
  params.set('startDate', first);
  params.set('endDate', end);
  return `${path}?${params}`;
}
