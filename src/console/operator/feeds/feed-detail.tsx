import type { Feed, FeedRunRecord } from '../../api/operator.ts';
import { linkTo } from '../../data/route.ts';
import { SureButton } from '../../editing/sure-button.tsx';
import { ago, count, duration } from '../../show/format.ts';
import { Addresses } from './addresses.tsx';
import { ProbeButton } from './probe.tsx';

const BADGES: Readonly<Record<FeedRunRecord['status'], string>> = {
  ok: 'good',
  unchanged: 'good',
  running: '',
  partial: 'warning',
  quarantined: 'warning',
  failed: 'bad',
};

/** Longer lists of codes are shown as a count. */
const SYMBOLS_SHOWN = 40;

/** What a feed provides, where it is fetched from, and its last runs with the reasons for rejections. */
export function FeedDetail({ token, feed, onAccept }: { token: string; feed: Feed; onAccept?: () => void }) {
  const { key, schedule, zone, symbols, gaps, rows, runBy, lacking, failing, runs } = feed;
  return (
    <div class="feed-detail">
      <p class="hint">
        Runs at <code>{schedule}</code> on the clock of {zone}
        {runBy && `, now in ${runBy.split(' ')[0]}`}. {count(rows)} days with a price
        {gaps > 0 && `, ${count(gaps)} between them without one`}.
      </p>
      {lacking.length > 0 && (
        <p class="hint">
          It needs <code>{lacking.join(', ')}</code>, which is not set.
        </p>
      )}
      {failing.length > 0 && (
        <ul class="failing">
          {failing.map(({ series, symbol, reason, since }) => (
            <li key={series}>
              <span class="badge warning">failing</span> {series} ({symbol}) since {ago(since)}: {reason}
            </li>
          ))}
        </ul>
      )}
      {symbols.length > 0 && (
        <p class="codes-list">
          {symbols.slice(0, SYMBOLS_SHOWN).map((code) =>
            code.includes('/') ? (
              <span key={code}>{code}</span>
            ) : (
              <a key={code} href={linkTo('symbol', code)}>
                {code}
              </a>
            ),
          )}
          {symbols.length > SYMBOLS_SHOWN && <span>and {count(symbols.length - SYMBOLS_SHOWN)} more</span>}
        </p>
      )}
      {runs.length === 0 && <p class="hint">It has not run yet.</p>}
      {onAccept && isHeld(runs[0]) && (
        <p>
          The prices that the last run held back were not published. If they are correct:{' '}
          <SureButton
            label="Accept them"
            sure="Run again and publish them"
            describe={key}
            onSure={onAccept}
          />
        </p>
      )}
      <ol class="runs">
        {runs.map((run) => (
          <Run key={run.number} run={run} />
        ))}
      </ol>
      <ProbeButton token={token} feed={key} />
      <Addresses token={token} feed={key} />
    </div>
  );
}

/** Whether a run has held a series, or everything, back. */
function isHeld(run: FeedRunRecord | undefined): boolean {
  return run !== undefined && (run.status === 'quarantined' || run.held > 0);
}

function Run({ run }: { run: FeedRunRecord }) {
  const { number, startedAt, endedAt, status, message, reasons, refused } = run;
  const seconds = endedAt && Math.round((Date.parse(endedAt) - Date.parse(startedAt)) / 1000);
  return (
    <li>
      <span class={`badge ${BADGES[status]}`}>{status}</span> <span class="muted">run {number},</span>{' '}
      <time dateTime={startedAt} title={startedAt}>
        {ago(startedAt)}
      </time>
      {seconds ? <span class="muted">, took {duration(seconds)}</span> : null}
      {(status === 'partial' || !message) && <div>{countsOf(run)}</div>}
      {message && <div>{message}</div>}
      {status === 'quarantined' && (
        <div class="hint">The received data looks wrong. No price was changed.</div>
      )}
      {reasons.map(({ where, reason }) => (
        <div class="hint" key={`${where} ${reason}`}>
          {where}: {reason}
        </div>
      ))}
      {reasons.length > 0 && refused > reasons.length && (
        <div class="hint">and {count(refused - reasons.length)} more that were refused</div>
      )}
    </li>
  );
}

function countsOf({ status, taken, corrected, unchanged, missing, refused }: FeedRunRecord): string {
  if (status === 'running') return 'under way';
  if (status === 'unchanged') return 'nothing new since the run before';
  const parts: [number, string][] = [
    [taken, 'taken'],
    [corrected, 'corrected'],
    [unchanged, 'unchanged'],
    [missing, 'without a value'],
    [refused, 'refused'],
  ];
  const shown = parts.filter(([value], i) => value > 0 || i === 0);
  return shown.map(([value, what]) => `${count(value)} ${what}`).join(', ');
}
