import type { Config } from '../../config.ts';
import type { Provider } from '../../feeds/provider.ts';
import { FeedAdmin, type FeedDetails } from '../../feeds/thread/feed-admin.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { type Finding, ok, problem, someOf, warning } from './finding.ts';

export async function checkFeeds(
  ledger: Ledger,
  providers: readonly Provider[],
  config: Config,
  now: number,
): Promise<Finding[]> {
  const feeds = await new FeedAdmin(ledger, providers, config.secrets).list(now);
  const enabled = feeds.filter((feed) => feed.enabled);
  if (enabled.length > 0) return enabled.map(findingOf);
  const wasDemo = (await ledger.meta('demo')) === 'on';
  if (config.demo === 'on' || (config.demo === 'auto' && wasDemo))
    return [ok('feeds.enabled', 'no feed is enabled; prices are simulated')];
  const hasReal = wasDemo
    ? (await ledger.symbols.list()).some(({ real }) => real)
    : !(await ledger.isEmpty());
  if (hasReal) return [ok('feeds.enabled', 'no feed is enabled; prices were pushed or imported')];
  const fix = 'enable a feed (openpit feed list, openpit feed enable KEY), push prices, or import a file';
  if (wasDemo) {
    const text = 'no feed is enabled, and the simulated prices are hidden by OPENPIT_DEMO=false';
    return [warning('feeds.enabled', text, `${fix}; without OPENPIT_DEMO, simulated prices are served`)];
  }
  return [warning('feeds.enabled', 'no feed is enabled, and there are no prices', fix)];
}

/** The most serious finding about an enabled feed. */
function findingOf({
  key,
  lacking,
  late,
  lateAt,
  failures,
  failing,
  lastRun,
  lastOkAt,
}: FeedDetails): Finding {
  const reason = lastRun?.message === undefined ? '' : `: ${lastRun.message}`;
  const history = `openpit feed history ${key} shows its runs; openpit feed run ${key} runs it now`;
  if (lacking.length > 0) {
    const text = `feed ${key} is enabled and requires ${lacking.join(', ')}`;
    return problem('feeds.key', text, `get a key from its provider and set ${lacking.join(', ')}`);
  }
  if (late) {
    const since = lateAt === undefined ? '' : ` since ${new Date(lateAt).toISOString()}`;
    return problem('feeds.late', `feed ${key} is late${since}${reason}`, history);
  }
  if (lastRun?.status === 'quarantined') {
    const fix = `review it (openpit feed history ${key}), then accept it: openpit feed run ${key} --accept`;
    return warning('feeds.quarantined', `the data of feed ${key} looks wrong${reason}`, fix);
  }
  if (failures > 0)
    return warning(
      'feeds.failing',
      `feed ${key} has failed ${failures === 1 ? 'once' : `${failures} times in a row`}${reason}`,
      history,
    );
  if (failing.length > 0) {
    const text = `some series of feed ${key} fail: ${someOf(failing.map(({ series }) => series))} (${failing[0]!.reason})`;
    return warning('feeds.partial', text, history);
  }
  const last =
    lastOkAt === undefined
      ? 'waits for its first run'
      : `last succeeded at ${new Date(lastOkAt).toISOString()}`;
  return ok('feeds.state', `feed ${key} ${last}`);
}
