import type { Ledger } from '../../ledger/ledger.ts';
import { deleteSimulated } from '../../ledger/symbols/delete-simulated.ts';
import { HistoryFiller, type HistoryProgress } from './history.ts';
import { Stream } from './stream.ts';

/** Increase it when the same day gets other prices than before: an old history would not match the new one. */
const MODEL = '2';
const MODEL_META = 'demo-model';

/** The currencies that are simulated: those of the catalogue, and the most traded. More would delay the first start. */
const CURRENCIES = ['USD', 'JPY', 'GBP', 'CHF', 'CNY', 'CAD', 'AUD', 'INR', 'BRL', 'MYR'];

/** Demo data: history and live ticks for every symbol without real prices, and daily exchange rates. */
export class Simulator {
  readonly #ledger: Ledger;
  readonly #history: HistoryFiller;
  readonly #stream: Stream;
  #isCurrentModel = false;
  #hasLastSession = false;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
    this.#history = new HistoryFiller(ledger);
    this.#stream = new Stream(ledger);
  }

  /** Writes all missing bars up to each market's last closed session. */
  async fillHistory(now: number, progress: HistoryProgress = () => {}, signal?: AbortSignal): Promise<void> {
    await this.#replaceOldModel();
    const rates = await this.#ledger.symbols.addCurrencies(CURRENCIES);
    const symbols = [...(await this.#ledger.symbols.list()), ...rates.values()];
    await this.#history.fill(symbols, now, progress, signal);
  }

  async #replaceOldModel(): Promise<void> {
    if (this.#isCurrentModel || (await this.#ledger.meta(MODEL_META)) === MODEL) {
      this.#isCurrentModel = true;
      return;
    }
    if (!(await this.#ledger.isEmpty())) await deleteSimulated(this.#ledger.engine);
    await this.#ledger.setMeta(MODEL_META, MODEL);
  }

  /** Writes the ticks that are due. Returns how many. */
  async tick(now: number): Promise<number> {
    return this.#stream.tick(await this.#ledger.symbols.list(), now);
  }

  /** Writes the ticks of the last closed sessions, once per start. Returns how many. */
  async fillLastSession(now: number): Promise<number> {
    if (this.#hasLastSession) return 0;
    this.#hasLastSession = true;
    return this.#stream.fillLastSession(await this.#ledger.symbols.list(), now);
  }
}
