/** The operator responses that the page reads. */

export interface ReplicasAnswer {
  answering: {
    id: string;
    version: string;
    phase: string;
    simulated: boolean;
    engine: string;
    revision: number;
    behind: number;
    newestDataAgeSeconds: number | null;
    newestWriteAgeSeconds: number | null;
    historyBytes: number;
  };
  newestRevision: number;
  replicas: Replica[];
}

export interface Replica {
  id: string;
  name: string;
  version: string;
  phase: 'starting' | 'ready' | 'draining' | 'silent';
  startedAt: string;
  revision: number;
  behind: number;
  silentSeconds: number;
  accounts: number;
  units: number;
}

export interface AlarmsAnswer {
  /** False if the state of other replicas is unknown because the ledger is unreachable. */
  complete: boolean;
  alarms: Alarm[];
}

export interface Alarm {
  name: string;
  type: string;
  since: string | null;
  details: Record<string, string | number>;
  processes: string[];
}

export interface Feed {
  key: string;
  title: string;
  licence: 'yes' | 'attribution' | 'no';
  attribution: string;
  licenceUrl: string;
  enabled: boolean;
  health: 'off' | 'waiting' | 'ok' | 'partial' | 'failing' | 'late';
  failures: number;
  schedule: string;
  zone: string;
  symbols: string[];
  series: number;
  lacking: string[];
  runBy: string | null;
  lastOkAt: string | null;
  nextRunAt: string | null;
  failing: { series: string; symbol: string; reason: string; since: string }[];
  rows: number;
  gaps: number;
  firstDate: string | null;
  lastDate: string | null;
  runs: FeedRunRecord[];
}

export interface FeedRunRecord {
  number: number;
  startedAt: string;
  endedAt: string | null;
  status: 'running' | 'ok' | 'unchanged' | 'partial' | 'failed' | 'quarantined';
  message: string | null;
  taken: number;
  corrected: number;
  unchanged: number;
  missing: number;
  held: number;
  refused: number;
  reasons: { where: string; reason: string }[];
}

/** What a provider answered, compared with what is expected. */
export interface ProbeAnswer {
  key: string;
  verdict: 'ok' | 'unreachable' | 'gone' | 'refused' | 'changed';
  url: string;
  found: string[];
  advice: string[];
}

type HeldState = 'held' | 'released' | 'dropped';

/** A price that was held because it is far from its neighbours. */
export interface HeldBarRecord {
  id: number;
  symbol: string;
  source: string;
  date: string;
  close: number;
  reason: string;
  state: HeldState;
  decidedAt: string | null;
  decidedBy: string | null;
}

export interface HeldTickRecord {
  id: number;
  symbol: string;
  source: string;
  price: number;
  at: string;
  reason: string;
  state: HeldState;
  decidedAt: string | null;
  decidedBy: string | null;
}
