import { type Decimal, decimalOf } from '../decimal.ts';
import { CONVERTED_DIGITS } from '../ratio.ts';
import { isConverted, roundedMean, roundedMeanTo } from './mean.ts';

/** A close, and the factor if it was converted. */
interface Close {
  close: number;
  factor?: { isOne: boolean } | undefined;
}

interface WindowClose extends Decimal {
  close: number;
  isConverted: boolean;
}

/**
 * The mean of the last `count` closes of a series, equal to `meanOfCloses` of them. It keeps their exact sum, so that a row costs
 * the same however many closes the mean has.
 */
export class MovingMean {
  readonly #count: number;
  readonly #decimals: number;
  /** The last closes, the newest at `#newest`. */
  readonly #window: WindowClose[] = [];
  #newest = -1;
  /** The sum of the window is `#sum` × 10^−`#scale`. */
  #sum = 0n;
  #scale = 0;
  /** The most decimals that a close of the window has, and how many closes have each number of decimals. */
  #places = 0;
  readonly #closesByPlaces: number[] = [];
  #convertedCloses = 0;

  constructor(count: number, decimals: number) {
    this.#count = count;
    this.#decimals = decimals;
  }

  add({ close, factor }: Close): void {
    this.#newest = (this.#newest + 1) % this.#count;
    const oldest = this.#window[this.#newest];
    const added = { ...decimalOf(close), close, isConverted: isConverted({ factor }) };
    this.#window[this.#newest] = added;
    this.#include(added, 1);
    if (oldest) this.#include(oldest, -1);
    while (this.#places > 0 && !this.#closesByPlaces[this.#places]) this.#places--;
  }

  /** Undefined while there are too few closes. */
  value(): number | undefined {
    if (this.#window.length < this.#count) return undefined;
    if (this.#count === 1) return this.#window[0]!.close;
    const sum = { sum: this.#sum, scale: this.#scale };
    return this.#convertedCloses > 0
      ? roundedMeanTo(sum, this.#count, CONVERTED_DIGITS)
      : roundedMean(sum, this.#count, Math.max(this.#decimals, this.#places));
  }

  #include({ digits, scale, isConverted }: WindowClose, times: 1 | -1): void {
    if (scale > this.#scale) {
      this.#sum *= 10n ** BigInt(scale - this.#scale);
      this.#scale = scale;
    }
    this.#sum += BigInt(times) * digits * 10n ** BigInt(this.#scale - scale);
    this.#closesByPlaces[scale] = (this.#closesByPlaces[scale] ?? 0) + times;
    this.#places = Math.max(this.#places, scale);
    if (isConverted) this.#convertedCloses += times;
  }
}
