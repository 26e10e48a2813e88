import { DeferredAnswer } from '../../cache/deferred-answer.ts';
import { Download } from '../../download/download.ts';
import type { PriceEndpoint } from '../../model/endpoint.ts';
import { ParquetAnswer } from '../../parquet/parquet-answer.ts';
import type { ParquetDelivery } from '../parquet/parquet-delivery.ts';
import type { PreparedAnswer } from '../request/prepared-answer.ts';
import type { RequestContext } from '../request/request-context.ts';
import type { Response, Step } from '../request/step.ts';
import { readsLedger } from '../steps/send-from-ledger.ts';
import type { Cost, CostReport } from './cost-report.ts';

export interface DryRunOptions {
  costReport: CostReport;
  parquet: ParquetDelivery;
}

/** Ends a dry run of a request that would read the ledger: the read is what costs, so it is not done. */
export function reportReadCost({ costReport, parquet }: DryRunOptions): Step<PriceEndpoint> {
  return (context) => {
    const {
      isDryRun,
      context: { format },
    } = context.priceRequest!;
    if (!isDryRun || !readsLedger(context.priceRequest!)) return undefined;
    if (format === 'parquet' && parquet.isPaid(context)) return sendCost(context, costReport, { units: 0 });
    return sendCost(context, costReport, { units: 1, isMinimum: format !== 'json' });
  };
}

/** Ends any other dry run. The answer exists by now, so a request without data was refused as usual. */
export function reportCost({ costReport, parquet }: DryRunOptions): Step<PriceEndpoint> {
  return (context) => {
    if (!context.priceRequest!.isDryRun) return undefined;
    return unitsOf(context, context.answer!, parquet).then((units) =>
      sendCost(context, costReport, { units }),
    );
  };
}

export function sendCost(
  context: RequestContext,
  costReport: CostReport,
  cost: Pick<Cost, 'units' | 'isMinimum'>,
): Promise<Response> {
  const { priceQuery, warnings } = context.priceRequest!;
  return costReport.send(context, { ...cost, unresolved: priceQuery.unresolved, warnings });
}

/** As `Delivery` charges: nothing for a 304 or a Parquet file that is paid for, and for a table by its rows. */
async function unitsOf(
  context: RequestContext,
  answer: PreparedAnswer,
  parquet: ParquetDelivery,
): Promise<number> {
  const ifNoneMatch = context.request.headers.get('if-none-match');
  if (ifNoneMatch !== null && isUnchanged(answer, ifNoneMatch)) return 0;
  if (answer instanceof ParquetAnswer && parquet.isPaid(context, answer.options.etag)) return 0;
  return answer instanceof Download || answer instanceof ParquetAnswer ? answer.units() : 1;
}

function isUnchanged(answer: PreparedAnswer, ifNoneMatch: string): boolean {
  if (answer instanceof Download || answer instanceof ParquetAnswer) return answer.isUnchanged(ifNoneMatch);
  const head = answer instanceof DeferredAnswer ? answer.head : answer;
  return head.isUnchanged(ifNoneMatch);
}
