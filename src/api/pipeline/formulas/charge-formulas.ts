import { LAST_DAY } from '../../../market/day.ts';
import { Refusal } from '../../errors/errors.ts';
import type { PriceEndpoint } from '../../model/endpoint.ts';
import { ParquetAnswer } from '../../parquet/parquet-answer.ts';
import { matchesAny } from '../../response/etag.ts';
import { type DryRunOptions, sendCost } from '../dry-run/dry-run.ts';
import type { PriceRequest } from '../request/price-request.ts';
import type { RequestContext } from '../request/request-context.ts';
import type { Response, Step } from '../request/step.ts';
import type { Charge } from '../steps/charge.ts';

export interface ChargeFormulasOptions extends DryRunOptions {
  charge: Charge;
}

/**
 * Charges for every response that reveals whether an ad hoc formula has a value: a refusal, HEAD, and a 304 for any tag. That
 * depends on prices: `{XAU}/2400*…` may be too large only above 2400, so a few free requests would find a price. A dry run
 * does not reveal it. A refusal because a symbol has no price is free, as without a formula.
 */
export function chargeFormulas(
  { charge, costReport, parquet }: ChargeFormulasOptions,
  build: Step<PriceEndpoint>,
): Step<PriceEndpoint> {
  return (context, endpoint) => {
    const { priceQuery } = context.priceRequest!;
    return priceQuery.hasFormulas ? buildFormulas(context, endpoint) : build(context, endpoint);
  };

  async function buildFormulas(
    context: RequestContext,
    endpoint: PriceEndpoint,
  ): Promise<Response | undefined> {
    const priceRequest = context.priceRequest!;
    const { isDryRun, context: endpointContext } = priceRequest;
    // Such a file is sent again without a look at the prices.
    if (isDryRun && endpointContext.format === 'parquet' && parquet.isPaid(context))
      return sendCost(context, costReport, { units: 0 });
    try {
      await build(context, endpoint);
    } catch (error) {
      if (!(error instanceof Refusal) || !hasPrices(priceRequest)) throw error;
      if (isDryRun) return sendCost(context, costReport, { units: 1 });
      await charge.take(context, endpoint);
      throw error;
    }
    if (!wouldBeFree(context)) return undefined;
    if (isDryRun) return sendCost(context, costReport, { units: 1 });
    await charge.take(context, endpoint);
    return undefined;
  }
}

/**
 * Whether every symbol of the formulas has a price by the requested day. If one has none, the formula has no
 * value whatever the other prices are.
 */
function hasPrices({ priceQuery: { series, lastDay = LAST_DAY }, view }: PriceRequest): boolean {
  return series.every((one) => (view.firstDay(one) ?? LAST_DAY + 1) <= lastDay);
}

/** Whether a request that finds an answer would be free without a formula. HEAD pays for a Parquet file in any case. */
export function wouldBeFree({ request, answer }: RequestContext): boolean {
  const isFreeHead = request.method === 'HEAD' && !(answer instanceof ParquetAnswer);
  return isFreeHead || matchesAny(request.headers.get('if-none-match'));
}
