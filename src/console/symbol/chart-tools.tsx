import { type DaySpan, intervalsFor, RANGES, type Range } from '../data/chart/span.ts';
import {
  AVERAGES,
  CHART_TYPES,
  type ChartType,
  type ChartView,
  SCALES,
  type Scale,
} from '../data/chart/view.ts';
import { today } from '../data/days.ts';
import { day } from '../show/format.ts';
import { Menu } from '../show/menu.tsx';
import { Choice } from '../show/parts.tsx';

export type ChangeView = (change: Partial<ChartView>) => void;

const TYPE_LABELS: Readonly<Record<ChartType, string>> = { candles: 'Candles', line: 'Line', area: 'Area' };
const SCALE_LABELS: Readonly<Record<Scale, string>> = { linear: 'Linear', log: 'Log', percent: '%' };

/** The range of the chart: one of the usual ones, or any two dates. */
export function RangeTools({
  view,
  range,
  span,
  firstDate,
  onChange,
}: {
  view: ChartView;
  range: Range;
  span: DaySpan;
  /** Of the symbol. */
  firstDate: string | null;
  onChange: ChangeView;
}) {
  const min = firstDate ?? '';
  const max = span.last > today() ? span.last.slice(0, 10) : today();
  const { first, last } = view.dates ?? span;
  const within = (date: string) => (date < min ? min : date.slice(0, 10));
  return (
    <div class="tools">
      <Choice
        label="Range"
        options={RANGES}
        value={view.dates ? undefined : range}
        onChange={(next) => {
          const interval = intervalsFor(next).find((one) => one === view.interval);
          onChange({ range: next, dates: undefined, interval });
        }}
      />
      <Menu label={view.dates ? `${day(view.dates.first)} – ${day(view.dates.last)}` : 'Dates'}>
        {(close) => (
          <form
            class="dates"
            onSubmit={(event) => {
              event.preventDefault();
              const data = new FormData(event.currentTarget);
              const [from, to] = [String(data.get('first')), String(data.get('last'))].sort();
              onChange({ dates: { first: from!, last: to! }, range: undefined });
              close();
            }}
          >
            <label>
              From
              <input type="date" name="first" required value={within(first)} min={min} max={max} />
            </label>
            <label>
              To
              <input type="date" name="last" required value={within(last)} min={min} max={max} />
            </label>
            <button type="submit" class="button primary">
              Show
            </button>
          </form>
        )}
      </Menu>
    </div>
  );
}

/** How the prices are drawn. */
export function DrawingTools({
  type,
  scale,
  onChange,
}: {
  type: ChartType;
  scale: Scale;
  onChange: ChangeView;
}) {
  return (
    <div class="tools">
      <Choice
        label="Chart type"
        options={CHART_TYPES}
        labels={TYPE_LABELS}
        value={type}
        onChange={(next) => onChange({ type: next })}
      />
      <Choice
        label="Scale"
        options={SCALES}
        labels={SCALE_LABELS}
        value={scale}
        onChange={(next) => onChange({ scale: next })}
      />
    </div>
  );
}

/** The moving averages to draw. */
export function AverageTools({
  averages,
  scale,
  onChange,
}: {
  averages: readonly number[];
  scale: Scale;
  onChange: ChangeView;
}) {
  return (
    <Menu label={averages.length > 0 ? `Averages: ${averages.join(', ')}` : 'Averages'} align="end">
      {() => (
        <fieldset class="checks">
          <legend>Moving averages</legend>
          {AVERAGES.map((length) => (
            <label key={length}>
              <input
                type="checkbox"
                checked={averages.includes(length)}
                onChange={({ currentTarget: { checked } }) =>
                  onChange({
                    averages: AVERAGES.filter((one) => (one === length ? checked : averages.includes(one))),
                  })
                }
              />
              {length} bars
            </label>
          ))}
          {scale === 'percent' && <p class="hint">Not drawn on a percent scale.</p>}
        </fieldset>
      )}
    </Menu>
  );
}
