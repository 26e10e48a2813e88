import { useRef, useState } from 'preact/hooks';
import { askAsOperator, NotSent } from '../../api/client.ts';
import { typedCapitals } from '../../editing/capitals.ts';
import { DoneNotice } from '../../editing/done-notice.tsx';
import { SureButton } from '../../editing/sure-button.tsx';
import { useAction } from '../../editing/use-action.ts';
import { plural } from '../../show/format.ts';
import { Choice, Failure, Notice } from '../../show/parts.tsx';
import { FirstRealPrice, type PriceFormProps } from './first-real-price.tsx';

const PRICES = ['open', 'high', 'low', 'close'] as const;

/** The longest reason that the service takes. */
const REASON_MAX = 500;

/** Begins the reason of an undo. The reason of the change follows, and must leave room for it. */
const UNDONE = 'undone: ';

interface Done {
  text: string;
  symbol: string;
  startDate: string;
  endDate: string;
  reason: string;
  /** When it was recorded. What the operator had changed before stays. */
  recordedAt: string;
}

/** Withdraws or corrects the prices of days. Both can be undone. */
export function Bars({ token, simulated, onChange }: PriceFormProps) {
  const action = useAction();
  const [what, setWhat] = useState<'Correct' | 'Withdraw'>('Correct');
  const form = useRef<HTMLFormElement>(null);
  const [typedSymbol, setTypedSymbol] = useState('');
  const [first, setFirst] = useState('');
  const [last, setLast] = useState('');
  const [reason, setReason] = useState('');
  const [prices, setPrices] = useState<Record<string, string>>({});
  const [done, setDone] = useState<Done>();
  const [notice, setNotice] = useState<string>();
  const symbol = typedSymbol.trim();
  const endDate = last || first;
  const post = async <T,>(path: string, bodyOf: () => object) => {
    const answer = await action.run(async () =>
      askAsOperator<T>(token, path, { method: 'POST', body: bodyOf() }),
    );
    if (answer) onChange();
    return answer;
  };
  const correct = async () => {
    const answer = await post<{ changed: boolean; recordedAt: string }>('/admin/bars/correct', () => {
      const numbers = PRICES.map((name) => [name, readPrice(prices[name]?.trim() || prices.close!.trim())]);
      return { symbol, date: first, reason, ...Object.fromEntries(numbers) };
    });
    if (!answer) return;
    if (!answer.changed) return setNotice('The day has these prices already.');
    const { recordedAt } = answer;
    const day = { symbol, startDate: first, endDate: first, reason };
    setDone({ text: `${symbol} on ${first} is corrected.`, ...day, recordedAt });
  };
  const withdraw = async () => {
    const range = { symbol, startDate: first, endDate, reason };
    const answer = await post<{ days: string[]; recordedAt: string }>('/admin/bars/withdraw', () => range);
    if (!answer) return;
    if (answer.days.length === 0) return setNotice('There are no real prices to withdraw on these days.');
    const { days, recordedAt } = answer;
    setDone({ text: `${plural(days.length, 'day')} of ${symbol} withdrawn.`, ...range, recordedAt });
  };
  const undo = async ({ text: _, ...range }: Done) => {
    const body = { ...range, reason: UNDONE + range.reason };
    const answer = await post<{ days: string[] }>('/admin/bars/revert', () => body);
    if (!answer) return;
    setDone(undefined);
    setNotice(`Undone: ${plural(answer.days.length, 'day')} of ${range.symbol} as before.`);
  };
  const isComplete =
    symbol !== '' && first !== '' && reason !== '' && (what === 'Withdraw' || Boolean(prices.close?.trim()));
  return (
    <section class="card" aria-labelledby="bars-title">
      <div class="card-head">
        <h2 id="bars-title">Correct or withdraw a day</h2>
        <Choice
          label="What to do"
          options={['Correct', 'Withdraw'] as const}
          value={what}
          onChange={setWhat}
        />
      </div>
      <p class="hint">
        The earlier prices stay as revisions: requests with <code>asOf</code> about earlier moments still see
        them.
      </p>
      <form ref={form} class="fields" onSubmit={(event) => event.preventDefault()}>
        <label>
          Symbol
          <input
            value={typedSymbol}
            onInput={(event) => setTypedSymbol(typedCapitals(event.currentTarget))}
          />
        </label>
        <Field
          label={what === 'Correct' ? 'Day' : 'First day'}
          type="date"
          value={first}
          onInput={setFirst}
        />
        {what === 'Withdraw' && (
          <Field label="Last day (optional)" type="date" value={last} onInput={setLast} />
        )}
        {what === 'Correct' &&
          PRICES.map((name) => (
            <Field
              key={name}
              label={name === 'close' ? 'Close' : `${name[0]!.toUpperCase()}${name.slice(1)} (optional)`}
              type="number"
              value={prices[name] ?? ''}
              onInput={(text) => setPrices({ ...prices, [name]: text })}
            />
          ))}
        <Field
          label="Reason, shown with the revision"
          maxLength={REASON_MAX - UNDONE.length}
          value={reason}
          onInput={setReason}
        />
        <SureButton
          label={what}
          sure={`${what} it`}
          describe={`${symbol} ${first}`}
          disabled={!isComplete || action.isBusy}
          onSure={() => {
            if (!form.current!.reportValidity()) return; // a day that does not exist has no value
            setDone(undefined);
            setNotice(undefined);
            void (what === 'Correct' ? correct() : withdraw());
          }}
        />
      </form>
      {what === 'Correct' && <FirstRealPrice symbols={simulated.has(symbol) ? [symbol] : []} />}
      {action.error !== undefined && <Failure error={action.error} />}
      {notice !== undefined && <Notice title={notice} />}
      {done && <DoneNotice text={done.text} disabled={action.isBusy} onUndo={() => undo(done)} />}
    </section>
  );
}

function readPrice(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value)) return value;
  throw new NotSent(`“${text}” is not a price. Write it with a decimal point, such as 2340.5.`);
}

function Field({
  label,
  type = 'text',
  maxLength,
  value,
  onInput,
}: {
  label: string;
  type?: 'text' | 'date' | 'number';
  maxLength?: number;
  value: string;
  onInput: (text: string) => void;
}) {
  const change = (event: { currentTarget: HTMLInputElement }) => onInput(event.currentTarget.value);
  if (type === 'date') {
    return (
      <label>
        {label}
        <input type="date" value={value} onInput={change} />
      </label>
    );
  }
  return (
    <label>
      {label}
      <input
        inputMode={type === 'number' ? 'decimal' : 'text'}
        maxLength={maxLength}
        value={value}
        onInput={change}
      />
    </label>
  );
}
