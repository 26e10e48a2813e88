import type { MarketSymbol } from '../api/answers.ts';
import type { Headline } from '../data/chart/headline.ts';
import { nameOfCurrency, signOfCurrency } from '../data/currency.ts';
import { isFormula } from '../data/formula.ts';
import { linkToLastMarket } from '../data/route.ts';
import { isSimulated } from '../data/simulated.ts';
import { nameOfUnit } from '../data/units.ts';
import { Star } from '../market/star.tsx';
import { ago, computedDecimals, decimalsOf, duration, priceWith, signed, trend } from '../show/format.ts';

/** The name of a symbol, what its number is, and the number. */
export function Title({
  symbol,
  headline,
  delaySeconds = 0,
}: {
  symbol: MarketSymbol;
  headline?: Headline | undefined;
  delaySeconds?: number;
}) {
  const { unit = symbol.unit.symbol, quote = symbol.currency.code } = headline ?? {};
  const isOwn = unit === symbol.unit.symbol;
  return (
    <div class="page-head symbol-head">
      <div>
        <p class="crumb">
          <a href={linkToLastMarket()}>Market</a> / {symbol.category}
        </p>
        <h1>
          {symbol.name} {!isFormula(symbol.symbol) && <span class="code">{symbol.symbol}</span>}
        </h1>
        {symbol.formula === undefined && <Star code={symbol.symbol} name={symbol.name} />}
        <p class="lead">
          {quote !== 'none' && (
            <>
              {quote === symbol.currency.code ? symbol.currency.name : nameOfCurrency(quote)}
              {unit !== 'none' && ` per ${isOwn ? symbol.unit.name.toLowerCase() : nameOfUnit(unit)}`}{' '}
            </>
          )}
          {headline && isSimulated(headline.source) && <span class="badge simulated">Simulated</span>}{' '}
          {delaySeconds > 0 && <span class="badge">{duration(delaySeconds)} behind</span>}{' '}
          {headline?.stale && <span class="badge warning">No new price for a while</span>}{' '}
          {symbol.status === 'deprecated' && <span class="badge warning">Deprecated</span>}
        </p>
      </div>
      {headline && <BigRate symbol={symbol} headline={headline} />}
    </div>
  );
}

/** The sign before a price in a currency, as the symbol has it for its own. */
export function signOf(symbol: MarketSymbol, currency: string): string {
  if (currency === 'none') return '';
  return currency === symbol.currency.code ? symbol.currency.symbol : signOfCurrency(currency);
}

/** An amount of money: −$8.81. */
export function Amount({ sign, text }: { sign: string; text: string }) {
  const [, minus, digits] = /^(−?)(.*)/.exec(text)!;
  return (
    <>
      {minus}
      {sign !== '' && <span class="sign">{sign}</span>}
      {digits}
    </>
  );
}

function BigRate({ symbol, headline }: { symbol: MarketSymbol; headline: Headline }) {
  const { rate, before, at, source, isOpen, quote, isPublished } = headline;
  const change = before === undefined || before === 0 ? undefined : rate - before;
  const decimals = Math.min(decimalsOf(rate), isPublished ? Infinity : computedDecimals(rate));
  return (
    <p class="big-rate">
      <span class="big">
        <Amount sign={signOf(symbol, quote)} text={priceWith(rate, decimals)} />
      </span>
      {change !== undefined && (
        <span class={trend(change)}>
          {signed(change, decimals)} ({signed((change / Math.abs(before!)) * 100)} %)
        </span>
      )}
      <span class="rate-origin">
        {source}, {ago(at)}
        {isOpen !== undefined && <> · market {isOpen ? 'open' : 'closed'}</>}
      </span>
    </p>
  );
}
