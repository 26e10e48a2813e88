import { BodyFault } from '../../http/message/fault.ts';
import { outageReason } from '../../ledger/engine/errors.ts';
import { type Log, messageOf } from '../../runtime/log/log.ts';
import { Refusal, refuse } from '../errors/errors.ts';
import { bodyRefusal } from '../errors/from-gate.ts';
import { traceIdOf } from '../telemetry/request-id.ts';
import type { RequestContext } from './request/request-context.ts';

export interface FailureOptions {
  log: Log;
  /** Called with every unexpected error of a request. */
  onError(error: unknown): void;
}

/** A database that restarts is back within seconds. */
const OUTAGE_RETRY_SECONDS = 5;

/** Maps an error to what the client is told: a bug is logged in full, and the client gets the request id. */
export function refusalOf(
  error: unknown,
  context: RequestContext,
  { log, onError }: FailureOptions,
): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof BodyFault) return bodyRefusal(error.fault);
  onError(error);
  const { requestId, endpoint } = context;
  const traceId = traceIdOf(context.request);
  const message = messageOf(error);
  const why = outageReason(error);
  if (why !== undefined) {
    log.warn('unavailable', { requestId, traceId, why, message });
    return refuse('unavailable', { why }, OUTAGE_RETRY_SECONDS);
  }
  const stack = error instanceof Error ? error.stack : undefined;
  log.error('request failed', { requestId, traceId, endpoint: endpoint?.name ?? 'other', message, stack });
  return refuse('internal', { requestId });
}
