import type { Quote } from '../../api/answers.ts';
import { clientOf } from '../../api/client.ts';
import { addDays, daysBetween, spans, today } from '../days.ts';
import { isSimulated } from '../simulated.ts';
import type { History } from './history.ts';

/** Loading costs a unit, so while prices keep changing, each wait is twice as long as the one before. */
const WAIT_MS = 60_000;
const WAIT_MS_MAX = 3_600_000;

/** Every market is past the day before yesterday. The quotes tell about the days since. */
const OPEN_DAYS = 2;

/** In a `Link` header: the query of the next page. */
const NEXT_PAGE = /^<([^>]*)>; rel="next"/;

type Quotes = readonly (Quote | undefined)[];

/** What is known for free about the past of a chart: from the quotes, and the tags of the requests for the closed days. */
interface Past {
  id: string;
  quoted: string;
  paths: string;
  etags: string | undefined;
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
    if (this.#seen?.id !== id) this.#seen = { id, quoted: pastIn(loaded), paths: '', etags: undefined };
    const quoted = pastIn(now);
    const requests = closedRequests(history, codes);
    const paths = requests.join();
    const etags = await this.#etagsOf(requests);
    const before = this.#seen;
    if (before.id !== id) return false;
    const etagsBefore = before.paths === paths ? before.etags : undefined;
    const isOther = etags !== undefined && etagsBefore !== undefined && etags !== etagsBefore;
    const isChanged = isOther || quoted !== before.quoted;
    const waited = Date.now() - this.#waitsUntil;
    if (isChanged && waited < 0) return false;
    this.#seen = { id, quoted, paths, etags: etags ?? etagsBefore };
    if (isChanged) {
      this.#waitMs = waited > this.#waitMs ? WAIT_MS : Math.min(2 * this.#waitMs, WAIT_MS_MAX);
      this.#waitsUntil = Date.now() + this.#waitMs;
    }
    return isChanged;
  }

  /** The tags of all pages; undefined if one of them could not be read. The next check tries again. */
  async #etagsOf(requests: readonly string[]): Promise<string | undefined> {
    const tags: (string | null)[] = [];
    const pages = [...requests];
    for (const page of pages) {
      const response = await clientOf(this.#key)
        .request(page, {}, { method: 'HEAD' })
        .catch(() => undefined);
      if (!response) return undefined;
      tags.push(response.headers.get('etag'));
      const next = NEXT_PAGE.exec(response.headers.get('link') ?? '')?.[1];
      if (next) pages.push(page.split('?')[0] + next);
    }
    return tags.join();
  }
}

/** What changes in the quotes with the past, but not with newer prices. */
function pastIn(quotes: Quotes): string {
  return JSON.stringify(quotes.map((quote) => quote && [quote.before, isSimulated(quote.source)]));
}

/** The requests for those days of a history that have ended everywhere, each for as many days as that of the history. */
function closedRequests({ request, first: loadedFrom }: History, codes: readonly string[]): string[] {
  const [path, query] = request.split('?');
  const params = new URLSearchParams(query);
  const [start, last] = ['startDate', 'endDate'].map((name) => params.get(name)!.slice(0, 10)) as [
    string,
    string,
  ];
  // HEAD is not free for formulas, nor for bars shorter than a day.
  params.set('symbols', codes.join());
  if (params.get('startDate') !== start) params.delete('interval');
  params.delete('unit');
  const end = [last, addDays(today(), -OPEN_DAYS)].sort()[0]!;
  return spans(loadedFrom.slice(0, 10), end, Math.max(1, daysBetween(start, last))).map(([from, to]) => {
    params.set('startDate', from);
    params.set('endDate', to);
    return `${path}?${params}`;
  });
}
