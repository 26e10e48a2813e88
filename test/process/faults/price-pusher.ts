import { Database } from 'bun:sqlite';

export const TOKEN = 'a-token-for-the-operator';

const FIRST_DAY = Date.UTC(1990, 0, 1);
const DAY_MS = 86_400_000;

/** The operator's own system, which pushes ticks and bars. Records which of them were acknowledged. */
export class PricePusher {
  readonly #source: string;
  readonly #ticks: string[] = [];
  readonly #bars: string[] = [];
  #sent = 0;

  constructor(source = 'pusher') {
    this.#source = source;
  }

  get acknowledged(): number {
    return this.#ticks.length + this.#bars.length;
  }

  /** Pushes some ticks and a bar. Returns the statuses. */
  async send(url: string, ticks = 20): Promise<{ ticks: number; bars: number }> {
    const n = ++this.#sent;
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

  /** Pushes records once. Returns the status; 0 if the connection broke. */
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

  /** Pushes until stopped. */
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
