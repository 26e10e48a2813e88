import type { DaySpan } from '../data/chart/span.ts';
import type { ChangeView, ChartView, Scale } from '../data/chart/view.ts';
import { today } from '../data/days.ts';

/** Any two dates, from the first price of the symbol on. A new price renders the page again, and must not undo what was typed. */
export function DatesForm({
  view,
  span,
  firstDate,
  onChange,
  close,
}: {
  view: ChartView;
  span: DaySpan;
  /** Of the symbol. */
  firstDate: string | null;
  onChange: ChangeView;
  close: () => void;
}) {
  const min = firstDate ?? '';
  const max = span.last > today() ? span.last.slice(0, 10) : today();
  const { first, last } = view.dates ?? span;
  const within = (date: string) => (date < min ? min : date.slice(0, 10));
  return (
    <form
      key={`${first} ${last}`}
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
        <input type="date" name="first" required defaultValue={within(first)} min={min} max={max} />
      </label>
      <label>
        To
        <input type="date" name="last" required defaultValue={within(last)} min={min} max={max} />
      </label>
      <button type="submit" class="button primary">
        Show
      </button>
    </form>
  );
}

/** The moving averages to draw. */
export function AveragesForm({
  lengths,
  averages,
  scale,
  onChange,
}: {
  /** All that can be drawn. This is a property because an import from there would make the bundler split the page into more files. */
  lengths: readonly number[];
  averages: readonly number[];
  scale: Scale;
  onChange: ChangeView;
}) {
  return (
    <fieldset class="checks">
      <legend>Moving averages</legend>
      {lengths.map((length) => (
        <label key={length}>
          <input
            type="checkbox"
            checked={averages.includes(length)}
            onChange={({ currentTarget: { checked } }) =>
              onChange({
                averages: lengths.filter((one) => (one === length ? checked : averages.includes(one))),
              })
            }
          />
          {length} bars
        </label>
      ))}
      {scale === 'percent' && <p class="hint">Not drawn on a percent scale.</p>}
    </fieldset>
  );
}
