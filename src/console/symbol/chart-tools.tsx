import { type DaySpan, intervalsFor, RANGES, type Range } from '../data/chart/span.ts';
import {
  AVERAGES,
  CHART_TYPES,
  type ChangeView,
  type ChartType,
  type ChartView,
  SCALES,
  type Scale,
} from '../data/chart/view.ts';
import { day } from '../show/format.ts';
import { lazy } from '../show/lazy.tsx';
import { Menu } from '../show/menu.tsx';
import { Choice } from '../show/parts.tsx';

const DatesForm = lazy(async () => (await import('./menu-forms.tsx')).DatesForm);
const AveragesForm = lazy(async () => (await import('./menu-forms.tsx')).AveragesForm);

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
          <DatesForm view={view} span={span} firstDate={firstDate} onChange={onChange} close={close} />
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
      {() => <AveragesForm lengths={AVERAGES} averages={averages} scale={scale} onChange={onChange} />}
    </Menu>
  );
}
