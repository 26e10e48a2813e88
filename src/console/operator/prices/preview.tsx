import { count, day, plural, price } from '../../show/format.ts';
import type { ImportAnswer, ImportLine } from './send-file.ts';

const OUTCOMES = {
  taken: ['good', 'new'],
  corrected: ['warning', 'changes a price'],
  unchanged: ['', 'known already'],
  held: ['bad', 'held back'],
} as const;

/** What an import would do: counts, the first rows, and the lines that cannot be used. */
export function Preview({ answer }: { answer: ImportAnswer }) {
  const { symbols, taken, corrected, unchanged, held, refused, missing, bars } = answer;
  const counts: [number, string][] = [
    [taken, 'new'],
    [corrected, 'corrected'],
    [unchanged, 'known already'],
    [held, 'held back for review'],
    [refused, 'refused'],
    [missing, 'without a value'],
  ];
  const label = symbols.length === 1 ? symbols[0] : plural(symbols.length, 'symbol');
  return (
    <div class="preview" role="status">
      <p>
        <strong>Preview for {label}.</strong> <span class="muted">Nothing has been written yet.</span>
      </p>
      <dl class="facts">
        {counts.map(([value, name]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{count(value)}</dd>
          </div>
        ))}
      </dl>
      <Lines title="Refused lines" lines={answer.refusedLines} total={refused} />
      <Lines title="Held back" lines={answer.heldLines} total={held} />
      <Lines title="Accepted, but unusual" lines={answer.oddLines} total={answer.odd} />
      {bars.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        <section class="scroll preview-rows" aria-label="The first rows" tabIndex={0}>
          <table class="plain">
            <thead>
              <tr>
                {['Line', 'Symbol', 'Day'].map((name) => (
                  <th scope="col" key={name}>
                    {name}
                  </th>
                ))}
                {['Open', 'High', 'Low', 'Close'].map((name) => (
                  <th scope="col" class="number" key={name}>
                    {name}
                  </th>
                ))}
                <th scope="col">What happens</th>
              </tr>
            </thead>
            <tbody>
              {bars.map((bar) => (
                <tr key={`${bar.line} ${bar.symbol}`}>
                  <td>{bar.line}</td>
                  <th scope="row">{bar.symbol}</th>
                  <td>{day(bar.date)}</td>
                  {[bar.open, bar.high, bar.low, bar.close].map((value, i) => (
                    <td class="number" key={i}>
                      {price(value)}
                    </td>
                  ))}
                  <td>
                    <span class={`badge ${OUTCOMES[bar.outcome][0]}`}>{OUTCOMES[bar.outcome][1]}</span>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </div>
  );
}

const LINES_SHOWN = 10;

function Lines({ title, lines, total }: { title: string; lines: readonly ImportLine[]; total: number }) {
  if (total === 0) return null;
  const shown = lines.slice(0, LINES_SHOWN);
  return (
    <div>
      <strong>{title}</strong>
      <ul class="hint">
        {shown.map(({ line, reason }) => (
          <li key={`${line} ${reason}`}>
            line {line}: {reason}
          </li>
        ))}
        {total > shown.length && <li>and {count(total - shown.length)} more</li>}
      </ul>
    </div>
  );
}
