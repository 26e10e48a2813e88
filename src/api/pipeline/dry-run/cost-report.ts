import { redactKeys } from '../../../gate/key.ts';
import type { Meter } from '../../../gate/meter/meter.ts';
import type { Reply } from '../../../http/message/reply.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { ClientAddress } from '../../access/client-address.ts';
import type { Refusal } from '../../errors/errors.ts';
import { quotaRefusal, visitorRefusal } from '../../errors/from-gate.ts';
import type { UnresolvedSymbols } from '../../model/price-query.ts';
import type { Responses } from '../../response/responses.ts';
import type { RequestContext } from '../request/request-context.ts';

/** What a request would cost. */
export interface Cost {
  units: number;
  /** Whether it may cost more: a table from the ledger is counted while it is read. */
  isMinimum?: boolean;
  unresolved?: UnresolvedSymbols | undefined;
  /** About parameters that have no effect. */
  warnings: readonly string[];
}

export interface CostReportOptions {
  meter: Meter;
  clock: Clock;
  clientAddress: ClientAddress;
  responses: Responses;
}

/** Answers a dry run: what the request costs, and whether the remaining quota covers it. Charges nothing. */
export class CostReport {
  readonly #options: CostReportOptions;

  constructor(options: CostReportOptions) {
    this.#options = options;
  }

  async send(context: RequestContext, cost: Cost): Promise<Reply> {
    const { units, isMinimum = false, unresolved, warnings } = cost;
    const { remaining, resetAt, refusal } = await this.#balance(context, units);
    return this.#options.responses.account(context, {
      success: true,
      dryRun: true,
      cost: units,
      ...(isMinimum && { exact: false }),
      admitted: refusal === undefined,
      remaining,
      ...(resetAt !== undefined && { resetAt }),
      ...(refusal && { code: refusal.code, message: refusal.message }),
      ...(unresolved && { unresolved }),
      ...(warnings.length > 0 && { warnings: warnings.map(redactKeys) }),
    });
  }

  /** What is left, and the refusal that the request would get. */
  async #balance(
    context: RequestContext,
    units: number,
  ): Promise<{ remaining: number; resetAt?: number; refusal: Refusal | undefined }> {
    const { meter, clock, clientAddress } = this.#options;
    const { id, plan, visitors } = context.customer!;
    if (visitors) {
      const { remaining, retryAfterSeconds } = visitors.balance(
        clientAddress.ofRequest(context),
        units,
        clock.now(),
      );
      const refusal = retryAfterSeconds > 0 ? visitorRefusal(retryAfterSeconds) : undefined;
      return { remaining, refusal };
    }
    const { used } = await meter.usage(id);
    const remaining = Math.max(0, plan.quota - used);
    const resetAt = meter.resetAt();
    const exhausted = { ok: false, reason: 'exhausted', retryAfterSeconds: meter.secondsToReset() } as const;
    const refusal = units > remaining ? quotaRefusal(exhausted, plan, { resetAt }, units) : undefined;
    return { remaining, resetAt: Math.floor(resetAt / 1000), refusal };
  }
}
