import type { PlanRecord } from '../api/answers.ts';
import type { IntervalChoice } from '../data/chart/request.ts';
import type { BarInterval } from '../data/chart/span.ts';
import { type ChangeView, type ChartView, COMPARED_MAX } from '../data/chart/view.ts';
import { nameOfCurrency } from '../data/currency.ts';
import { type Measures, nameOfUnit } from '../data/units.ts';
import type { Searchable } from '../search/match.ts';
import { SymbolPicker } from '../search/symbol-picker.tsx';
import { plural } from '../show/format.ts';
import { BAR_NAMES } from './legend.tsx';
import type { ChartSymbols } from './within-plan.ts';

/** What is compared, and the interval, currency and unit of the prices. */
export function MeasureTools({
  symbols: { shown, leftOut, hasRoom },
  plan,
  market,
  onSearch,
  view,
  unit,
  measures,
  interval,
  onChange,
}: {
  symbols: ChartSymbols;
  plan: PlanRecord;
  market: Searchable;
  onSearch: () => void;
  view: ChartView;
  /** Of the symbol. */
  unit: string;
  measures: Measures;
  interval: IntervalChoice;
  onChange: ChangeView;
}) {
  const symbol = shown[0]!;
  const compare = shown.slice(1).map((one) => one.symbol);
  const own = symbol.currency.code;
  const currency = view.currency ?? own;
  /** Ratios have none of their own, and a link may name one that is not known. */
  const others = [own, currency].filter((code) => !measures.currencies.includes(code));
  return (
    <>
      {hasRoom && compare.length < COMPARED_MAX && (
        <SymbolPicker
          market={market}
          onSearch={onSearch}
          label="Compare with"
          placeholder="Compare with…"
          excluded={[symbol.symbol, ...compare]}
          onPick={(code) => onChange({ compare: [...compare, code] })}
        />
      )}
      {(leftOut.length > 0 || !hasRoom) && (
        <span class="hint" role="status">
          {leftOut.length > 0 && `Left out: ${leftOut.map(({ name }) => name).join(', ')}. `}
          The plan “{plan.name}” allows {plural(plan.maxSymbols, 'symbol')} in one request.
        </span>
      )}
      {interval.options.length > 0 && (
        <Select
          label="Interval"
          value={interval.chosen ?? ''}
          options={[
            ['', `Auto (${BAR_NAMES[interval.automatic]})`],
            ...interval.options.map((one): [string, string] => [one, BAR_NAMES[one]]),
          ]}
          onChange={(next) => onChange({ interval: (next || undefined) as BarInterval | undefined })}
        />
      )}
      {measures.currencies.length > 1 && (
        <Select
          label="Currency"
          value={currency}
          options={[...new Set([...others, ...measures.currencies])].map((code) => [
            code,
            labelOfCurrency(code),
          ])}
          onChange={(next) => onChange({ currency: next === own ? undefined : next })}
        />
      )}
      {measures.units.length > 1 && (
        <Select
          label="Unit"
          value={unit}
          options={measures.units.map((one) => [one.unit, nameOfUnit(one.unit)])}
          onChange={(next) => onChange({ unit: next === symbol.unit.symbol ? undefined : next })}
        />
      )}
    </>
  );
}

function Select({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: string;
  options: readonly (readonly [value: string, text: string])[];
  onChange: (value: string) => void;
}) {
  return (
    <select
      class="small"
      aria-label={label}
      title={label}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      {options.map(([one, text]) => (
        <option key={one} value={one}>
          {text}
        </option>
      ))}
    </select>
  );
}

function labelOfCurrency(code: string): string {
  if (code === 'none') return 'Own currencies';
  const name = nameOfCurrency(code);
  return name === code ? code : `${code} · ${name}`;
}
