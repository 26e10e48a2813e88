import type { Board } from '../../board/board.ts';
import type { ReportedAlarm } from '../../ledger/operations/replicas.ts';
import type { StorePush } from '../../ledger/prices/pushes.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { AdminGuard } from '../access/admin-guard.ts';
import { adminAccounts } from '../admin/accounts.ts';
import { adminAlarms } from '../admin/alarms.ts';
import { adminFeeds } from '../admin/feeds.ts';
import { adminFormulas } from '../admin/formulas.ts';
import { adminKeys } from '../admin/keys.ts';
import { adminPlans } from '../admin/plans.ts';
import { adminBars } from '../admin/prices/bars.ts';
import { adminImports } from '../admin/prices/imports.ts';
import { KnownSymbols } from '../admin/prices/known-symbols.ts';
import { adminPush } from '../admin/push/push.ts';
import { adminQuarantine } from '../admin/quarantine.ts';
import { adminReplicas } from '../admin/replicas.ts';
import { adminAudit } from '../admin/service/audit.ts';
import { adminMaintenance } from '../admin/service/maintenance.ts';
import type { OperatorJobs } from '../admin/service/operator-jobs.ts';
import { adminTraffic } from '../admin/service/traffic.ts';
import { adminSymbols } from '../admin/symbols.ts';
import { account, usageDaily } from '../endpoints/account/account.ts';
import { capabilitiesEndpoint } from '../endpoints/account/capabilities.ts';
import { keyRotation, keys, oneKey } from '../endpoints/account/keys.ts';
import { usage } from '../endpoints/account/usage.ts';
import { feedsEndpoint } from '../endpoints/catalog/feeds.ts';
import { market, marketQuotes } from '../endpoints/catalog/market.ts';
import { symbols } from '../endpoints/catalog/symbols.ts';
import { unitsEndpoint } from '../endpoints/catalog/units.ts';
import { fluctuation } from '../endpoints/rates/fluctuation.ts';
import { historical } from '../endpoints/rates/historical.ts';
import { history } from '../endpoints/rates/history.ts';
import { latest } from '../endpoints/rates/latest.ts';
import { revisions } from '../endpoints/rates/revisions.ts';
import { statistics } from '../endpoints/rates/statistics.ts';
import { stream } from '../endpoints/rates/stream.ts';
import { timeSeries } from '../endpoints/rates/time-series.ts';
import { healthEndpoints } from '../endpoints/service/health.ts';
import { metricsEndpoint } from '../endpoints/service/metrics.ts';
import type { Endpoint } from '../model/endpoint.ts';
import type { FeedAdminPort, ListFeedStatus } from '../model/feed-status.ts';
import type { Health } from '../model/health.ts';
import { FORMATS } from '../response/format.ts';
import type { PageKeys } from '../site/page-key.ts';
import { siteEndpoints } from '../site/site.ts';
import type { IngestMetrics } from '../telemetry/ingest-metrics.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { ProcessSharing } from '../telemetry/sharing.ts';
import type { TrafficHistory } from '../telemetry/traffic-history.ts';
import type { MountPoint } from './mount-point.ts';
import type { Routes } from './router.ts';

export interface RouteOptions {
  board: Board;
  clock: Clock;
  adminToken: string | undefined;
  /** API keys that the web page receives automatically. */
  pageKeys: PageKeys;
  /** Whether prices are simulated. */
  simulated: boolean;
  /** Unique id of this replica. */
  replica: string;
  version: string;
  mounts: readonly MountPoint[];
  health(): Health;
  /** Active alarms of this process. */
  alarms(): readonly ReportedAlarm[];
  feeds: ListFeedStatus;
  /** The operator's view of the feeds. */
  feedAdmin: FeedAdminPort;
  /** Accepts prices that the operator's own system pushes. */
  push: StorePush;
  /** Loads what was written to the ledger since the last call, such as a symbol that is not known yet. */
  follow(): Promise<void>;
  ingestMetrics: IngestMetrics;
  /** Imports, backups and checks. */
  jobs: OperatorJobs;
  /** The secret that signs webhook events. */
  webhookSecret(): Promise<string>;
  /** What this process did in the last hours. */
  traffic: TrafficHistory;
  /** Collects what the other processes on this port measure. */
  sharing?: ProcessSharing;
}

/** The interface, in the order in which messages name its paths. */
const INTERFACE: readonly Endpoint[] = [symbols, latest, historical, timeSeries, fluctuation, usage];

/** Customer endpoints that the hosted services do not have. */
const ADDITIONS: readonly Endpoint[] = [
  revisions,
  history,
  statistics,
  stream,
  market,
  marketQuotes,
  account,
  usageDaily,
  keys,
  oneKey,
  keyRotation,
];

/** Tools for agents. */
const MCP: Endpoint = { kind: 'mcp', name: 'mcp', path: '/mcp' };

/** All routes by path. */
export function routesOf(options: RouteOptions, metrics: Metrics, guard: AdminGuard): Routes<Endpoint> {
  const { adminToken, board, clock, mounts, replica, version, pageKeys, simulated, feeds } = options;
  const allSimulated = () => !board.catalog.hasRealPrices;
  const admin = adminToken !== undefined;
  const adminSide = admin ? adminEndpoints(options) : [];
  const additions = [
    ...ADDITIONS,
    capabilitiesEndpoint({ board, clock, replica }),
    feedsEndpoint(feeds),
    unitsEndpoint(board),
  ];
  const atRoot: Endpoint[] = [
    ...healthEndpoints(options),
    metricsEndpoint(metrics, admin ? guard : undefined),
    ...siteEndpoints({
      keys: pageKeys,
      allSimulated,
      simulated,
      admin,
      mounts,
      version,
      clock,
    }),
    MCP,
    ...adminSide,
  ];
  return {
    mounted: byPath([...INTERFACE, ...additions]),
    formatted: byFormat([...INTERFACE, ...additions]),
    root: byPath(atRoot),
    named: [...INTERFACE, ...additions].map(({ path }) => path.replace(':id', '{id}')),
  };
}

function adminEndpoints(options: RouteOptions): Endpoint[] {
  const { board, health, alarms, replica: id, version, push, ingestMetrics, feedAdmin } = options;
  const symbols = new KnownSymbols(board, () => options.follow());
  const prices = [
    ...adminFeeds(feedAdmin, options.jobs),
    ...adminPush(symbols, push, ingestMetrics),
    ...adminBars(symbols),
    ...adminImports(options.jobs),
    ...adminQuarantine,
  ];
  return [
    ...adminAccounts,
    ...adminKeys,
    ...adminFormulas,
    ...adminPlans,
    ...adminSymbols,
    adminReplicas(board, health, { id, version }),
    adminAlarms({ id, alarms, isLedgerUnusable: () => health().isLedgerUnusable }),
    ...prices,
    adminAudit,
    ...adminMaintenance(options.jobs, options.webhookSecret),
    adminTraffic(options.traffic, options.sharing?.shareTraffic),
  ];
}

/** Paths that end in a format, for tools that go by the extension of a file. */
function byFormat(endpoints: readonly Endpoint[]): Routes<Endpoint>['formatted'] {
  const tables = endpoints.filter(({ kind }) => kind === 'prices');
  return Object.fromEntries(
    tables.flatMap((route) => FORMATS.map((format) => [`${route.path}.${format}`, { route, format }])),
  );
}

function byPath(endpoints: readonly Endpoint[]): Record<string, Endpoint> {
  return Object.fromEntries(endpoints.map((endpoint) => [endpoint.path, endpoint]));
}
