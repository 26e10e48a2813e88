import { Database } from 'bun:sqlite';

export const TOKEN = 'a-token-for-the-operator';

const FIRST_DAY = Date.UTC(1990, 0, 1);
const DAY_MS = 86_400_000;

/** The operator's own feed: it sends ticks and bars, and remembers what was acknowledged. */
export class Desk {
  readonly #source: string;
  readonly #ticks: string[] = [];
  readonly #bars: string[] = [];
  #made = 0;

  constructor(source = 'desk') {
    this.#source = source;
  }

  get acknowledged(): number {
    return this.#ticks.length + this.#bars.length;
  }

  /** Sends some ticks and a bar, as often as needed until a send is acknowledged; returns the statuses. */
  async send(url: string, ticks = 20): Promise<{ ticks: number; bars: number }> {
    const n = ++this.#made;
    const ids = Array.from({ length: ticks }, (_, i) => `${this.#source}-${n}-${i}`);
    const at = Date.now() - 1_000;
    const records = ids.map((id, i) => ({ symbol: 'XAU', price: 2_000 + (n % 10) / 10, at: at + i, id }));
    const date = new Date(FIRST_DAY + n * DAY_MS).toISOString().slice(0, 10);
    const first = await this.post(url, 'ticks', records);
    if (first === 200) this.#ticks.push(...ids);
    const second = await this.post(url, 'bars', [{ symbol: 'XAG', date, price: 20 + (n % 10) / 10 }]);
    if (second === 200) this.#bars.push(date);
    return { ticks: first, bars: second };
  }

  /** The status; 0 when the connection broke. */
  async post(url: string, kind: 'ticks' | 'bars', records: readonly object[]): Promise<number> {
    try {
      const answer = await fetch(`${url}/admin/${kind}?source=${this.#source}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
        body: JSON.stringify(records),
      });
      await answer.text();
      return answer.status;
    } catch {
      return 0;
    }
  }

  /** Sends until stopped. */
  async sendUntil(url: string, stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const { ticks } = await this.send(url);
      await Bun.sleep(ticks === 200 ? 5 : 20);
    }
  }

  /** How many of the acknowledged prices a SQLite ledger does not have. */
  missingIn(file: string): number {
    const database = new Database(file, { readonly: true });
    try {
      const ids = new Set(database.query('SELECT tick_id FROM tick').values().flat());
      const days = new Set(
        database
          .query('SELECT day FROM bar')
          .values()
          .map(([day]) => new Date(Number(day) * DAY_MS).toISOString().slice(0, 10)),
      );
      return (
        this.#ticks.filter((id) => !ids.has(id)).length + this.#bars.filter((day) => !days.has(day)).length
      );
    } finally {
      database.close();
    }
  }
}
