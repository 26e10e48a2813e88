import type { Provider } from '../../feeds/provider.ts';
import { type CommandCall, table, UsageError } from '../framework/command.ts';

/** Shows or replaces the addresses of a provider. */
export async function setUrls(call: CommandCall, { key, urls: own }: Provider): Promise<void> {
  const given = call.flag('url');
  const replaced = await call.withLedger(async (ledger) => {
    const known = await ledger.feeds.urls(key);
    if (given === undefined && !call.isSet('reset')) return known;
    const urls = call.isSet('reset') ? {} : { ...known, ...readUrl(given!, own) };
    await ledger.feeds.setUrls(key, urls);
    return urls;
  });
  const current = { ...own, ...replaced };
  if (call.isSet('json')) return console.log(JSON.stringify({ key, urls: current }));
  const rows = Object.entries(current).map(([name, url]) => [name, url, own[name] === url ? '' : 'replaced']);
  console.log(table([['name', 'address', ''], ...rows]));
}

/** `NAME=URL`, or the URL alone for the first address. Parts in braces must be kept. */
function readUrl(text: string, own: Provider['urls']): Record<string, string> {
  const names = Object.keys(own);
  const match = /^(\w+)=(https?:.*)$/.exec(text);
  const [name, url] = match ? [match[1]!, match[2]!] : [names[0]!, text];
  const template = own[name];
  if (template === undefined)
    throw new UsageError(`there is no address ${name}; there are ${names.join(', ')}`);
  const target = URL.parse(url);
  const isLocal = ['127.0.0.1', 'localhost', '[::1]'].includes(target?.hostname ?? '');
  if (target?.protocol !== 'https:' && !(target?.protocol === 'http:' && isLocal)) {
    throw new UsageError(`--url must be an https address such as ${template} (received "${url}")`);
  }
  for (const part of template.match(/\{\w+\}/g) ?? []) {
    if (!url.includes(part)) throw new UsageError(`the address must contain ${part}, as in ${template}`);
  }
  return { [name]: url };
}
