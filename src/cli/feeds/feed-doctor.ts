import { type Diagnosis, probe } from '../../feeds/doctor/probe.ts';
import { systemRuntime } from '../../feeds/fetch/runtime.ts';
import { lackingSettings, type Provider, withUrls } from '../../feeds/provider.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { CommandCall } from '../framework/command.ts';
import { printLine } from '../framework/print-line.ts';
import { beside, outputWidth } from '../framework/wrap.ts';

type Verdict = Diagnosis['verdict'] | 'not tried';

interface FeedFinding extends Omit<Diagnosis, 'verdict'> {
  key: string;
  verdict: Verdict;
}

const LABELS: Readonly<Record<Verdict, string>> = {
  ok: 'ok',
  unreachable: 'UNREACHABLE',
  gone: 'GONE',
  refused: 'REFUSED',
  changed: 'CHANGED',
  'not tried': 'not tried',
};
/** Beside the longest label. */
const TEXT_COLUMN = LABELS.unreachable.length + 2;

/** Tries providers and reports what answered. Throws if one of them does not work. */
export async function diagnose(
  call: CommandCall,
  providers: readonly Provider[],
  only: Provider | undefined,
): Promise<void> {
  const findings = await call.withLedger(async (ledger) => {
    const enabled = await ledger.feeds.enabled();
    const stop = new AbortController();
    process.once('SIGINT', () => stop.abort()).once('SIGTERM', () => stop.abort());
    const parts = { secrets: call.config.secrets, runtime: systemRuntime(systemClock), signal: stop.signal };
    return Promise.all(
      (only ? [only] : providers).map(async (provider): Promise<FeedFinding> => {
        const { key } = provider;
        const skipped = reasonToSkip(provider, call, only !== undefined || enabled.has(key));
        if (skipped) return { key, verdict: 'not tried', url: '', found: [skipped], advice: [] };
        return { key, ...(await probe(withUrls(provider, await ledger.feeds.urls(key)), parts)) };
      }),
    );
  });
  if (call.isSet('json')) printLine(JSON.stringify(findings));
  else for (const finding of findings) printLine(inWords(finding, outputWidth(process.stdout)));
  const wrong = findings.filter(({ verdict }) => verdict !== 'ok' && verdict !== 'not tried');
  if (wrong.length > 0)
    throw new Error(`${wrong.map(({ key }) => key).join(', ')} did not answer as expected`);
}

function reasonToSkip(provider: Provider, { config }: CommandCall, isWanted: boolean): string | undefined {
  const { licence, key } = provider;
  const lacking = lackingSettings(provider, config.secrets);
  if (lacking.length > 0) return `it requires ${lacking.join(', ')}`;
  if (licence.redistribution !== 'no' || isWanted) return undefined;
  return `it is off, and its terms do not allow redistribution; "openpit feed doctor ${key}" tries it`;
}

function inWords({ key, verdict, url, found, advice }: FeedFinding, width: number): string {
  const [first = '', ...others] = found;
  const below = [...others];
  if (verdict !== 'ok' && url !== '') below.push(`tried ${url}`);
  below.push(...advice.map((one) => `→ ${one}`));
  return [
    beside(LABELS[verdict], TEXT_COLUMN, `${key}: ${first}`, width),
    ...below.map((line) => beside('', TEXT_COLUMN, line, width)),
  ].join('\n');
}
