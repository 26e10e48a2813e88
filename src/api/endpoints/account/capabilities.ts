import type { Board } from '../../../board/board.ts';
import type { Customer } from '../../../gate/directory/customer.ts';
import type { Meter } from '../../../gate/meter/meter.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import { SILENT_MS } from '../../../ledger/operations/replicas.ts';
import { type Clock, elapsedMs } from '../../../runtime/clock.ts';
import { namedFormulas } from '../../formulas/named-formulas.ts';
import { keyRecord } from '../../keys/key-records.ts';
import type { OwnerEndpoint } from '../../model/endpoint.ts';
import { ROWS_PER_UNIT } from '../../model/long-table.ts';
import { spanDaysMax } from '../../params/parameters.ts';
import { IDEMPOTENCY_SECONDS } from '../../pipeline/idempotency/idempotent-answers.ts';
import { FORMATS } from '../../response/format.ts';
import { EVENTS_PER_UNIT } from '../../stream/connection.ts';
import { STREAMS_PER_ACCOUNT_MAX } from '../../stream/hub.ts';
import { STATISTICS_SYMBOLS_MAX } from '../rates/statistics.ts';

export interface CapabilitiesOptions {
  board: Board;
  clock: Clock;
  /** The id of this process. */
  replica: string;
}

/** GET /account/capabilities: what the key in use may do, so that a client need not discover its limits through errors. Free. */
export function capabilitiesEndpoint({ board, clock, replica }: CapabilitiesOptions): OwnerEndpoint {
  const startedAt = elapsedMs(clock);
  return {
    kind: 'owner',
    name: 'account-capabilities',
    path: '/account/capabilities',
    actions: {
      async GET({ customer, key, meter, ledger, now, dialect }) {
        const { plan, visitors } = customer;
        const timeSeriesDays = spanDaysMax(plan, dialect);
        const uptimeSeconds = Math.floor((elapsedMs(clock) - startedAt) / 1000);
        const isAlone = await servesAlone(replica, ledger);
        return {
          success: true,
          plan: plan.name,
          delaySeconds: plan.delaySeconds,
          symbols: {
            available: board.catalog.symbols.length + namedFormulas(board.catalog).size,
            maxPerRequest: plan.maxSymbols,
            maxPerStatistics: Math.min(plan.maxSymbols, STATISTICS_SYMBOLS_MAX),
          },
          span: { timeSeriesDays, statisticsDays: plan.history ? null : timeSeriesDays },
          formats: FORMATS,
          history: { included: plan.history, rowsPerUnit: ROWS_PER_UNIT },
          streams: {
            allowed: visitors === undefined,
            maxOpen: STREAMS_PER_ACCOUNT_MAX,
            eventsPerUnit: EVENTS_PER_UNIT,
          },
          idempotency: isAlone ? { keptSeconds: IDEMPOTENCY_SECONDS, uptimeSeconds } : null,
          burst: { perSecond: plan.burstPerSecond },
          quota: visitors ? null : await quotaOf(customer, meter),
          key: keyRecord(key, now),
        };
      },
    },
  };
}

/** Whether no other process has served in the last seconds. Each process has its own answers for repeated requests. */
async function servesAlone(replica: string, ledger: Ledger): Promise<boolean> {
  const { now, replicas } = await ledger.replicas.list();
  return !replicas.some(({ id, seen }) => id !== replica && now - seen <= SILENT_MS);
}

async function quotaOf({ id, plan }: Customer, meter: Meter) {
  const { used } = await meter.usage(id);
  const remaining = Math.max(0, plan.quota - used);
  return { units: plan.quota, used, remaining, resetAt: Math.floor(meter.resetAt() / 1000) };
}
