import {
  type AskRates,
  askServer,
  RequestRefused,
  type StreamedPrice,
  streamFromServer,
} from '../../client/ask.ts';
import { inTermsOf } from '../../client/terms.ts';
import { fileExists } from '../../ledger/inspection/file-exists.ts';
import { ledgerPath } from '../../ledger/open-engine.ts';
import { systemClock } from '../../runtime/clock.ts';
import { apiKeyIn } from '../framework/api-key.ts';
import { type CommandCall, type Flag, UsageError } from '../framework/command.ts';
import { isMistake } from '../framework/mistake.ts';

/** Where a client command gets its answers. */
export const SOURCE_FLAGS: Readonly<Record<string, Flag>> = {
  url: {
    value: 'URL',
    help: 'Query this server, with the API key in the environment variable OPENPIT_KEY, instead of the ledger on this machine',
  },
};

/** Calls `work` with a way to ask the server that `--url` names, or else the ledger on this machine. */
export async function withRates<T>(call: CommandCall, work: (ask: AskRates) => Promise<T>): Promise<T> {
  try {
    const url = call.flag('url');
    if (url !== undefined) return await work(askServer(serverUrl(url), apiKeyIn(call, 'OPENPIT_KEY')));
    requireExisting(call);
    const { openLocalRates } = await import('../../service/local-rates.ts');
    return await call.withLedger(async (ledger) =>
      work(await openLocalRates(ledger, call.config, systemClock)),
    );
  } catch (error) {
    throw explained(error, call.flag('url'));
  }
}

/** The prices of the server that `--url` names, as they change; undefined without it. */
export function streamFrom(
  call: CommandCall,
  symbols: readonly string[],
  signal: AbortSignal,
): AsyncIterable<StreamedPrice> | undefined {
  const url = call.flag('url');
  return url === undefined
    ? undefined
    : streamOf(serverUrl(url), apiKeyIn(call, 'OPENPIT_KEY'), symbols, signal);
}

async function* streamOf(...stream: Parameters<typeof streamFromServer>): AsyncGenerator<StreamedPrice> {
  try {
    yield* streamFromServer(...stream);
  } catch (error) {
    throw explained(error, stream[0]);
  }
}

/** What the options are called in the interface. */
const OPTIONS = {
  startDate: '--from',
  endDate: '--to',
  interval: '--interval',
  quote: '--currency',
  'without quote': 'without --currency',
  unit: '--unit',
  'the option "url"': '--url',
};

/** `openpit symbols list` reads the ledger on this machine; a server may have other symbols. */
const LOCAL_NAMES = { ...OPTIONS, 'GET /symbols': 'openpit symbols list' };

/** An error of the server at `url`, or of the ledger on this machine, in terms of the command line. */
function explained(error: unknown, url: string | undefined): unknown {
  if (!(error instanceof RequestRefused)) return error;
  const { message, status, code } = error;
  if (code === 'missing_key') return new UsageError(KEY_MISSING);
  if (code === 'not_found' && url !== undefined) return new RequestRefused(nothingAt(url), status, code);
  const text = inTermsOf(url === undefined ? LOCAL_NAMES : OPTIONS, message);
  return isMistake(error) ? new UsageError(text) : new RequestRefused(text, status, code);
}

const KEY_MISSING =
  'the server requires an API key: set the environment variable OPENPIT_KEY, for example OPENPIT_KEY=pit_live_… openpit latest XAU --url URL';

/** Instead of a list of paths, which the user of a command does not send. */
function nothingAt(url: string): string {
  const { origin } = new URL(url);
  return `the server does not have this interface at ${url}; check --url: it is where the interface begins, such as ${origin} or ${origin}/v2`;
}

/** Asking must not create an empty ledger. */
function requireExisting({ config }: CommandCall): void {
  const path = ledgerPath(config);
  if (path === undefined || fileExists(path)) return;
  throw new UsageError(
    `there is no ledger in ${config.dataDir}; name a server with --url, or where the ledger is with --data-dir or --database-url`,
  );
}

function serverUrl(text: string): string {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol)) return text;
  throw new UsageError(
    `--url must be the address of a server, such as http://127.0.0.1:8080 (received "${text}")`,
  );
}
