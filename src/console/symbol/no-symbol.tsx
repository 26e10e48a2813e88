import { useEffect } from 'preact/hooks';
import { isFormula } from '../data/formula.ts';
import type { MarketStore } from '../data/market/store.ts';
import { linkTo } from '../data/route.ts';
import { formulasIn } from '../search/options.ts';
import { Loading, Notice } from '../show/parts.tsx';

const OPERATOR = /[-+*/]/;

/**
 * Says that there is no such symbol. If the code is a formula as people write it, such as `XAU/XAG`, the page of that formula is
 * shown instead.
 */
export function NoSymbol({
  code,
  message = '',
  store,
}: {
  code: string;
  message?: string;
  /** In which a formula is looked for. */
  store?: MarketStore;
}) {
  const market = OPERATOR.test(code) && !isFormula(code) ? store?.searchable : undefined;
  useEffect(() => {
    if (market) store?.loadAll();
  }, []);
  const formula = market?.isComplete ? formulasIn(market, code)[0] : undefined;
  useEffect(() => {
    if (formula)
      location.replace([linkTo('symbol', formula), location.hash.split('?')[1]].filter(Boolean).join('?'));
  }, [formula]);
  if (formula || market?.isComplete === false) return <Loading label={`Loading ${code}`} shape="chart" />;
  return (
    <Notice title={`There is no symbol “${code}”.`}>
      {message} <a href={linkTo('market')}>Find another in the market</a>.
    </Notice>
  );
}
