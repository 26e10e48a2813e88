import type { ComponentChildren } from 'preact';
import type { Holder } from '../../account/with-key.tsx';
import type { MarketSymbol } from '../../api/answers.ts';
import type { Headline } from '../../data/chart/headline.ts';
import { inUnit, nameOfUnit, type Unit } from '../../data/units.ts';
import { ago, computedPrice, day, duration, price } from '../../show/format.ts';

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
    ['Unit', `${symbol.unit.name} (${symbol.unit.symbol})`],
    ['Currency', `${symbol.currency.name} (${symbol.currency.code})`],
    [
      'Newest price',
      headline ? `${ago(headline.at)}${headline.stale ? ', older than it should be' : ''}${delay}` : '…',
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

/** The newest price in every other unit that fits. */
export function Conversions({
  symbol,
  units,
  rate,
}: {
  symbol: MarketSymbol;
  units: readonly Unit[];
  /** In the symbol's own unit. */
  rate: number | undefined;
}) {
  if (units.length < 2 || rate === undefined) return null;
  return (
    <section class="card" aria-labelledby="conversions-title">
      <h2 id="conversions-title">The same price per</h2>
      <dl class="conversions">
        {units.map((one) => (
          <div key={one.unit}>
            <dt title={one.unit}>{nameOfUnit(one.unit)}</dt>
            <dd>
              {symbol.currency.symbol}
              {one.factor === 1 ? price(rate) : computedPrice(inUnit(rate, one))}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
