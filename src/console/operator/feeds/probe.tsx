import { useState } from 'preact/hooks';
import { askAsOperator } from '../../api/client.ts';
import type { Feed, ProbeAnswer } from '../../api/operator.ts';
import { useAction } from '../../editing/use-action.ts';
import { Failure } from '../../show/parts.tsx';

const VERDICTS: Readonly<Record<ProbeAnswer['verdict'], [badge: string, text: string]>> = {
  ok: ['good', 'answers as expected'],
  unreachable: ['bad', 'unreachable'],
  gone: ['bad', 'the address is gone'],
  refused: ['bad', 'access refused'],
  changed: ['warning', 'answers differently'],
};

/** Tries a provider and shows what answered. */
export function ProbeButton({ token, feed }: { token: string; feed: string }) {
  const action = useAction();
  const [answer, setAnswer] = useState<ProbeAnswer>();
  const probe = async () => {
    setAnswer(undefined);
    setAnswer(await action.run(() => probeFeed(token, feed)));
  };
  return (
    <div>
      <button
        type="button"
        class="button small"
        disabled={action.isBusy}
        aria-label={`Test the provider of ${feed}`}
        onClick={probe}
      >
        {action.isBusy ? 'Testing…' : 'Test the provider'}
      </button>
      {action.error !== undefined && <Failure error={action.error} />}
      <div role="status">{answer && <ProbeResult answer={answer} />}</div>
    </div>
  );
}

interface Finding {
  key: string;
  answer?: ProbeAnswer;
  error?: unknown;
  /** Why the provider is not tried. */
  skipped?: string;
}

/** Tries all providers, one after the other, except those that lack a setting or may not be used without a licence. */
export function ProbeAll({ token, feeds }: { token: string; feeds: readonly Feed[] }) {
  const [findings, setFindings] = useState<readonly Finding[]>();
  const [isBusy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    setFindings([]);
    for (const feed of feeds) {
      const skipped = reasonToSkip(feed);
      const finding = skipped ? { skipped } : await outcomeOf(token, feed.key);
      setFindings((before = []) => [...before, { key: feed.key, ...finding }]);
    }
    setBusy(false);
  };
  return (
    <>
      <button type="button" class="button" disabled={isBusy} onClick={run}>
        {isBusy ? `Testing… ${findings?.length ?? 0} of ${feeds.length}` : 'Test all providers'}
      </button>
      {findings && (
        <ul class="findings" aria-label="What the providers answered" aria-live="polite">
          {findings.map(({ key, answer, error, skipped }) => (
            <li key={key}>
              <strong>{key}</strong>
              {answer && <ProbeResult answer={answer} />}
              {error !== undefined && <Failure error={error} />}
              {skipped && <span class="muted"> not tried: {skipped}</span>}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function ProbeResult({ answer: { verdict, url, found, advice } }: { answer: ProbeAnswer }) {
  const [badge, text] = VERDICTS[verdict];
  return (
    <div class="probe">
      <span class={`badge ${badge}`}>{text}</span> {found.join('; ')}
      {verdict !== 'ok' && url !== '' && (
        <p class="hint">
          Tried <code>{url}</code>
        </p>
      )}
      {advice.map((one) => (
        <p key={one}>{forThePage(one)}</p>
      ))}
    </div>
  );
}

/** Advice names the command; here the address is a field. */
function forThePage(advice: string): string {
  return advice
    .replace(
      /openpit feed set \S+ --url (\w+)=ADDRESS/,
      'change its address “$1” in the details of the feed.',
    )
    .replace('with openpit import', 'under Prices');
}

function reasonToSkip({ lacking, licence, enabled }: Feed): string | undefined {
  if (lacking.length > 0) return `it needs ${lacking.join(', ')}, which is not set.`;
  if (licence !== 'no' || enabled) return undefined;
  return 'it is off, and its terms do not allow redistribution. Its details have a test of their own.';
}

async function outcomeOf(token: string, feed: string): Promise<Omit<Finding, 'key'>> {
  try {
    return { answer: await probeFeed(token, feed) };
  } catch (error) {
    return { error };
  }
}

function probeFeed(token: string, feed: string): Promise<ProbeAnswer> {
  const path = `/admin/feeds/${encodeURIComponent(feed)}/probe`;
  return askAsOperator<ProbeAnswer>(token, path, { method: 'POST', body: {} });
}
