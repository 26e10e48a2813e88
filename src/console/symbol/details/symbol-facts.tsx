import type { ComponentChildren } from 'preact';
import type { Holder } from '../../account/with-key.tsx';
import type { MarketSymbol } from '../../api/answers.ts';
import type { Headline } from '../../data/chart/headline.ts';
import { nameOfUnit, roundConverted, type Unit } from '../../data/units.ts';
import { ago, computedPrice, day, duration, price } from '../../show/format.ts';
import { Amount, signOf } from '../title.tsx';

const PUBLISHED = { minute: 'while the market is open', day: 'daily', week: 'weekly', month: 'monthly' };

/** Facts about a symbol and its newest price. */
export function Facts({
  symbol,
  headline,
  holder,
}: {
  symbol: MarketSymbol;
  headline: Headline | undefined;
  holder: Holder;
}) {
  const { name, delaySeconds } = holder.plan;
  const delay = delaySeconds > 0 ? `, ${duration(delaySeconds)} behind on the plan “${name}”` : '';
  const facts: [string, ComponentChildren][] = [
    ['Unit', measure(symbol.unit.symbol, symbol.unit.name)],
    ['Currency', measure(symbol.currency.code, symbol.currency.name)],
    [
      'Newest price',
      headline ? `${ago(headline.at)}${headline.stale ? ', older than expected' : ''}${delay}` : '…',
    ],
    ['Published', PUBLISHED[symbol.updateInterval]],
    ['History', symbol.firstDate ? `since ${day(symbol.firstDate)}` : 'none'],
  ];
  return (
    <dl class="facts">
      {facts.map(([title, value]) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A ratio has neither unit nor currency. */
function measure(code: string, name: string): string {
  return code === 'none' ? 'none' : `${name} (${code})`;
}

/** The newest price in every unit that fits, in the chosen currency. */
export function Conversions({
  symbol,
  units,
  rate,
  headline: { exchangeRate, quote },
}: {
  symbol: MarketSymbol;
  units: readonly Unit[];
  /** As published. */
  rate: number;
  headline: Headline;
}) {
  if (units.length < 2) return null;
  return (
    <section class="card" aria-labelledby="conversions-title">
      <h2 id="conversions-title">The same price per</h2>
      <dl class="conversions">
        {units.map((one) => (
          <div key={one.unit}>
            <dt title={one.unit}>{nameOfUnit(one.unit)}</dt>
            <dd>
              <Amount
                sign={signOf(symbol, quote)}
                text={
                  one.factor * exchangeRate === 1
                    ? price(rate)
                    : computedPrice(roundConverted(rate, one.factor * exchangeRate))
                }
              />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
