import { addressProblem } from '../../feeds/addresses.ts';
import type { Provider } from '../../feeds/provider.ts';
import { type CommandCall, table, UsageError } from '../framework/command.ts';
import { missingLedger } from '../framework/existing-ledger.ts';
import { printLine } from '../framework/print-line.ts';

/** Shows or replaces the addresses of a provider. */
export async function setUrls(call: CommandCall, { key, urls: own }: Provider): Promise<void> {
  const given = call.all('url');
  const missing = given.length === 0 ? await missingLedger(call.config) : undefined;
  if (missing !== undefined) throw new UsageError(missing);
  const isReset = call.isSet('reset');
  const change = Object.fromEntries(given.map((text) => readUrl(text, own)));
  const replaced = await call.withLedger(({ feeds }) =>
    given.length === 0 && !isReset
      ? feeds.urls(key)
      : feeds.changeUrls(key, (known) => ({ ...(isReset ? {} : known), ...change })),
  );
  const current = { ...own, ...replaced };
  if (call.isSet('json')) return printLine(JSON.stringify({ key, urls: current }));
  const rows = Object.entries(current).map(([name, url]) => [name, url, own[name] === url ? '' : 'replaced']);
  printLine(table([['name', 'address', ''], ...rows]));
}

/** `NAME=URL`, or the URL alone for the first address. */
function readUrl(text: string, own: Provider['urls']): [name: string, url: string] {
  const match = /^(\w+)=(https?:.*)$/.exec(text);
  const [name, url] = match ? [match[1]!, match[2]!] : [Object.keys(own)[0]!, text];
  const problem = addressProblem(own, name, url);
  if (problem !== undefined) throw new UsageError(problem);
  return [name, url];
}
