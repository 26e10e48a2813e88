import { hostOf, hostUrls } from '../../ledger/engine/postgres/hosts/host-urls.ts';
import { choosePrimary } from '../../ledger/engine/postgres/hosts/primary.ts';
import {
  type HostState,
  isReachable,
  probeHost,
  type Unreachable,
} from '../../ledger/engine/postgres/hosts/probe.ts';
import { Ledger } from '../../ledger/ledger.ts';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/log/log.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

/** The role of each host, where OPENPIT_DATABASE_URL names several. */
export async function checkHosts(databaseUrl: string): Promise<Finding[]> {
  const urls = hostUrls(databaseUrl);
  if (urls.length === 1) return [];
  const states = await Promise.all(urls.map(probeHost));
  const primary = choosePrimary(states, undefined);
  return states.map((state) => roleOf(state, primary));
}

/** The standbys for point-in-time requests, which otherwise the primary serves. */
export async function checkStandbys(ledger: Ledger, readUrl: string, clock: Clock): Promise<Finding[]> {
  const epoch = await ledger.meta('epoch');
  return Promise.all(hostUrls(readUrl).map((url) => checkStandby(url, epoch, clock)));
}

function roleOf(state: HostState | Unreachable, primary: HostState | undefined): Finding {
  const host = hostOf(state.url);
  if (!isReachable(state)) {
    const text = `${host} of OPENPIT_DATABASE_URL cannot be reached: ${messageOf(state.error)}`;
    return warning('ledger.hosts', text, 'start it, so that there is a server to fail over to, or remove it');
  }
  if (!state.isPrimary) return ok('ledger.hosts', `${host} is a standby`);
  if (state === primary) return ok('ledger.hosts', `${host} is the primary`);
  return problem(
    'ledger.hosts',
    `${host} accepts writes but is no longer the primary: one of its standbys was promoted`,
    'stop it immediately, and rebuild it as a standby (pg_rewind)',
  );
}

async function checkStandby(url: string, epoch: string | undefined, clock: Clock): Promise<Finding> {
  const host = hostOf(url);
  try {
    const standby = await Ledger.openForReading(url, clock);
    const { isSame, isPrimary } = await stateOf(standby, epoch).finally(() => standby.close());
    if (isSame && isPrimary) {
      const text = `${host} of OPENPIT_READ_URL is not a standby: requests about the past are read from a primary`;
      return warning('ledger.read_url', text, 'after a failover, set it to a standby of the new primary');
    }
    if (isSame) return ok('ledger.read_url', `the standby ${host} of OPENPIT_READ_URL can be read`);
    const text = `${host} of OPENPIT_READ_URL has a different ledger than OPENPIT_DATABASE_URL`;
    return problem('ledger.read_url', text, 'set it to a standby of the same server');
  } catch (error) {
    const text = `the standby ${host} of OPENPIT_READ_URL cannot be read: ${messageOf(error)}`;
    return warning('ledger.read_url', text, 'start it, or correct or remove the setting');
  }
}

async function stateOf(
  standby: Ledger,
  epoch: string | undefined,
): Promise<{ isSame: boolean; isPrimary: boolean }> {
  const isSame = (await standby.meta('epoch')) === epoch;
  return { isSame, isPrimary: (await standby.engine.replayedAt()) === Number.POSITIVE_INFINITY };
}
