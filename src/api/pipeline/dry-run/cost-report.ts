import { redactKeys } from '../../../gate/key.ts';
import type { Reply } from '../../../http/message/reply.ts';
import type { UnresolvedSymbols } from '../../model/price-query.ts';
import type { Responses } from '../../response/responses.ts';
import type { RequestContext } from '../request/request-context.ts';
import type { Charge } from '../steps/charge.ts';

/** What a request would cost. */
export interface Cost {
  units: number;
  /** Whether it may cost more: a table from the ledger is counted while it is read. */
  isMinimum?: boolean;
  unresolved?: UnresolvedSymbols | undefined;
  /** About parameters that have no effect. */
  warnings: readonly string[];
}

/** Answers a dry run: what the request costs, and whether the remaining quota covers it. Charges nothing. */
export class CostReport {
  readonly #charge: Charge;
  readonly #responses: Responses;

  constructor(charge: Charge, responses: Responses) {
    this.#charge = charge;
    this.#responses = responses;
  }

  async send(context: RequestContext, cost: Cost): Promise<Reply> {
    const { units, isMinimum = false, unresolved, warnings } = cost;
    const { remaining, resetAt, refusal } = await this.#charge.balance(context, units);
    return this.#responses.account(context, {
      success: true,
      dryRun: true,
      cost: units,
      ...(isMinimum && { exact: false }),
      admitted: refusal === undefined,
      remaining,
      ...(resetAt !== undefined && { resetAt: Math.floor(resetAt / 1000) }),
      ...(refusal && { code: refusal.code, message: refusal.message }),
      ...(unresolved && { unresolved }),
      ...(warnings.length > 0 && { warnings: warnings.map(redactKeys) }),
    });
  }
}
