import { askAsOperator } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { Notice } from '../../show/parts.tsx';
import type { AdminSymbol } from './symbol-form.tsx';

/** What a form needs that publishes prices. */
export interface PriceFormProps {
  token: string;
  /** The symbols of which all prices are simulated. */
  simulated: ReadonlySet<string>;
  onChange: () => void;
}

/** The symbols, by all their codes, of which all prices are simulated. `refresh` reads them again. */
export function useSimulatedOnly(token: string, isDemo: boolean) {
  const loaded = useLoad(async () => {
    if (!isDemo) return [];
    const { symbols } = await askAsOperator<{ symbols: AdminSymbol[] }>(token, '/admin/symbols');
    return symbols.filter(({ real }) => !real).flatMap(({ code, aliases }) => [code, ...aliases]);
  }, [token, isDemo]);
  return { simulated: new Set(loaded.data), refresh: loaded.refresh };
}

/** Warns before the first real price of symbols. */
export function FirstRealPrice({ symbols }: { symbols: readonly string[] }) {
  if (symbols.length === 0) return null;
  const [names, their] = [symbols.join(', '), symbols.length === 1 ? 'its' : 'their'];
  return (
    <Notice kind="warning" title={`The first real price of ${names} hides ${their} whole simulated history.`}>
      Customers then see only real prices, which are never mixed with simulated ones.
    </Notice>
  );
}
