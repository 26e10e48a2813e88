import { useState } from 'preact/hooks';
import { askAsOperator } from '../../api/client.ts';
import { useLoad, useRefresh } from '../../api/load.ts';
import type { Feed } from '../../api/operator.ts';
import { SureButton } from '../../editing/sure-button.tsx';
import { useAction } from '../../editing/use-action.ts';
import { ago, count, day, timeUntil } from '../../show/format.ts';
import { ActionsHead, Failure, Loading } from '../../show/parts.tsx';
import { FeedDetail } from './feed-detail.tsx';
import { ProbeAll } from './probe.tsx';

const REFRESH_MS = 10_000;

const BADGES: Readonly<Record<Feed['health'], string>> = {
  ok: 'good',
  waiting: '',
  partial: 'warning',
  failing: 'warning',
  late: 'bad',
  off: '',
};

/** Enabled feeds with their health and runs, and feeds that can be enabled. */
export function Feeds({ token }: { token: string }) {
  const [opened, setOpened] = useState<string>();
  const action = useAction();
  const [notice, setNotice] = useState<string>();
  const loaded = useLoad(
    async () => (await askAsOperator<{ feeds: Feed[] }>(token, '/admin/feeds')).feeds,
    [token],
  );
  useRefresh(loaded.refresh, REFRESH_MS);
  const turn = async (key: string, enabled: boolean) => {
    const path = `/admin/feeds/${encodeURIComponent(key)}`;
    const turned = await action.run(() => askAsOperator(token, path, { method: 'PATCH', body: { enabled } }));
    if (turned) setNotice(enabled ? `${key} is on and runs now.` : `${key} is off.`);
    loaded.reload();
    return turned !== undefined;
  };
  const post = async (path: string, body: object, done: string) => {
    setNotice(undefined);
    if (await action.run(() => askAsOperator(token, path, { method: 'POST', body }))) setNotice(done);
  };
  const runNow = (key: string, accept: boolean) =>
    post(
      `/admin/feeds/${encodeURIComponent(key)}/run`,
      { accept },
      `${key} runs within ten seconds${accept ? ', and what looks wrong is published' : ''}.`,
    );
  const on = loaded.data?.filter((feed) => feed.enabled || feed.runs.length > 0) ?? [];
  const others = loaded.data?.filter((feed) => !on.includes(feed)) ?? [];
  const free =
    loaded.data?.filter((feed) => !feed.enabled && feed.licence !== 'no' && feed.lacking.length === 0) ?? [];
  const turnOnFree = async () => {
    setNotice(undefined);
    for (const feed of free) if (!(await turn(feed.key, true))) return;
    setNotice('They run now. Their prices replace simulated ones as they arrive.');
  };
  const loadSample = () =>
    post(
      '/admin/sample',
      {},
      'The bundled history is loaded within a minute; the runs below show the result.',
    );
  return (
    <section class="card" aria-labelledby="feeds-title">
      <h2 id="feeds-title">Feeds</h2>
      <div class="choices">
        {free.length > 0 && (
          <button type="button" class="button" disabled={action.isBusy} onClick={turnOnFree}>
            Turn on all public feeds ({count(free.length)})
          </button>
        )}
        <button type="button" class="button" disabled={action.isBusy} onClick={loadSample}>
          Load the bundled history
        </button>
        {loaded.data && <ProbeAll token={token} feeds={loaded.data} />}
      </div>
      {notice !== undefined && <p role="status">{notice}</p>}
      {action.error !== undefined && <Failure error={action.error} />}
      {loaded.state === 'failed' && !loaded.data && <Failure error={loaded.error} onRetry={loaded.reload} />}
      {!loaded.data && loaded.state === 'loading' && <Loading label="Reading the feeds" shape="table" />}
      {loaded.data && on.length === 0 && (
        <p class="hint">No feed is on. Turn one on below: it runs immediately, then on its schedule.</p>
      )}
      {on.length > 0 && (
        <table class="plain stack">
          <thead>
            <tr>
              <th scope="col">Feed</th>
              <th scope="col">Health</th>
              <th scope="col">Last successful run</th>
              <th scope="col">Next run</th>
              <th scope="col" class="number">
                Symbols
              </th>
              <th scope="col">Prices until</th>
              <ActionsHead />
            </tr>
          </thead>
          <tbody>
            {on.map((feed) => (
              <Row
                key={feed.key}
                token={token}
                feed={feed}
                isOpen={opened === feed.key}
                onOpen={() => setOpened(opened === feed.key ? undefined : feed.key)}
                onTurn={(enabled) => turn(feed.key, enabled)}
                onRun={(accept) => runNow(feed.key, accept)}
              />
            ))}
          </tbody>
        </table>
      )}
      {others.length > 0 && (
        <details class="more" open={on.length === 0}>
          <summary>
            {count(others.length)} {on.length > 0 ? 'more' : 'feeds'} that can be turned on
          </summary>
          <ul class="offers">
            {others.map((feed) => (
              <Offer key={feed.key} token={token} feed={feed} onTurn={() => turn(feed.key, true)} />
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function Row({
  token,
  feed,
  isOpen,
  onOpen,
  onTurn,
  onRun,
}: {
  token: string;
  feed: Feed;
  isOpen: boolean;
  onOpen: () => void;
  onTurn: (enabled: boolean) => void;
  onRun: (accept: boolean) => void;
}) {
  const { key, title, enabled, health, runBy, lastOkAt, nextRunAt, symbols, lastDate } = feed;
  return (
    <>
      <tr>
        <th scope="row">
          {title} <span class="code">{key}</span>
        </th>
        <td data-label="Health">
          <span class={`badge ${BADGES[health]}`}>{health}</span>
        </td>
        <td data-label="Last successful run">{lastOkAt ? ago(lastOkAt) : 'never'}</td>
        <td data-label="Next run">{runBy ? 'running now' : nextRunAt ? timeUntil(nextRunAt) : '—'}</td>
        <td data-label="Symbols" class="number">
          {count(symbols.length)}
        </td>
        <td data-label="Prices until">{lastDate ? day(lastDate) : '—'}</td>
        <td class="actions">
          <button
            type="button"
            class="button small"
            aria-expanded={isOpen}
            aria-label={`Details of ${key}`}
            onClick={onOpen}
          >
            Details
          </button>
          <button
            type="button"
            class="button small"
            disabled={runBy !== null}
            aria-label={`Run now ${key}`}
            onClick={() => onRun(false)}
          >
            Run now
          </button>
          {enabled ? (
            <SureButton label="Turn off" sure="Turn off now" describe={key} onSure={() => onTurn(false)} />
          ) : (
            <button
              type="button"
              class="button small"
              aria-label={`Turn on ${key}`}
              onClick={() => onTurn(true)}
            >
              Turn on
            </button>
          )}
        </td>
      </tr>
      {isOpen && (
        <tr class="detail">
          <td colSpan={7}>
            <FeedDetail token={token} feed={feed} onAccept={() => onRun(true)} />
          </td>
        </tr>
      )}
    </>
  );
}

/** A disabled feed. Licence restrictions are shown before it is enabled. */
function Offer({ token, feed, onTurn }: { token: string; feed: Feed; onTurn: () => void }) {
  const [isOpen, setOpen] = useState(false);
  const { key, title, licence, attribution, licenceUrl, series, lacking } = feed;
  return (
    <li>
      <div>
        <strong>{title}</strong> <span class="muted">{count(series)} series</span>
        <p class="hint">
          {licence === 'no' ? 'May not be redistributed without a licence of your own. ' : ''}
          {attribution}{' '}
          <a href={licenceUrl} rel="noreferrer">
            Terms
          </a>
        </p>
        {lacking.length > 0 && (
          <p class="hint">
            Needs <code>{lacking.join(', ')}</code>, which is not set.
          </p>
        )}
      </div>
      <span class="choices">
        <button
          type="button"
          class="button small"
          aria-expanded={isOpen}
          aria-label={`Details of ${key}`}
          onClick={() => setOpen(!isOpen)}
        >
          Details
        </button>
        {licence === 'no' ? (
          <SureButton label="Turn on" sure="I may use it: turn on" describe={key} onSure={onTurn} />
        ) : (
          <button type="button" class="button small" aria-label={`Turn on ${key}`} onClick={onTurn}>
            Turn on
          </button>
        )}
      </span>
      {isOpen && <FeedDetail token={token} feed={feed} />}
    </li>
  );
}
