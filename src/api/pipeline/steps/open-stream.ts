import type { Board } from '../../../board/board.ts';
import type { Gate, PresentedKey } from '../../../gate/gate.ts';
import type { Reply } from '../../../http/message/reply.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { ClientAddress } from '../../access/client-address.ts';
import { noDataWarnings } from '../../endpoints/rates/closes.ts';
import { refuse } from '../../errors/errors.ts';
import { admissionRefusal, quotaRefusal } from '../../errors/from-gate.ts';
import type { StreamEndpoint } from '../../model/endpoint.ts';
import { readFlag } from '../../params/parameters.ts';
import { parameterWarnings } from '../../params/synonyms.ts';
import type { RemainingQuota } from '../../response/remaining-quota.ts';
import type { Responses } from '../../response/responses.ts';
import type { Channel } from '../../stream/channel.ts';
import { type StreamHub, streamEnd } from '../../stream/hub.ts';
import type { CostReport } from '../dry-run/cost-report.ts';
import type { RequestContext } from '../request/request-context.ts';
import type { Step } from '../request/step.ts';
import type { Charge } from './charge.ts';

export interface OpenStreamOptions {
  board: Board;
  clientAddress: ClientAddress;
  clock: Clock;
  gate: Gate;
  charge: Charge;
  costReport: CostReport;
  remainingQuota: RemainingQuota;
  responses: Responses;
  streams: StreamHub;
}

/** Opens a stream. It is charged like a response, and again for its events. */
export function openStream(options: OpenStreamOptions): Step<StreamEndpoint> {
  const { board, clientAddress, clock, gate, charge } = options;
  const { costReport, remainingQuota, responses, streams } = options;

  return async (context: RequestContext, endpoint: StreamEndpoint): Promise<Reply> => {
    const { request, query, now, dialect } = context;
    const customer = context.customer!;
    const { plan, visitors } = customer;
    if (visitors) throw refuse('key_not_allowed', { why: 'stream' });
    const { symbols, series } = endpoint.read({ query, plan, board, now, format: 'json', dialect });
    const isDryRun = readFlag(query, 'dryRun');
    await board.ready(series, endpoint.requiredData, clock.now());
    const view = board.view(plan.delaySeconds * 1000);
    const warnings = [...parameterWarnings(query, endpoint.path), ...noDataWarnings(symbols, view)];
    if (isDryRun) {
      streams.requireRoom(customer.id);
      return costReport.send(context, { units: 1, isMinimum: true, warnings });
    }
    if (request.method === 'HEAD') {
      streams.requireRoom(customer.id);
      return responses.stream(context, new ReadableStream());
    }
    const { text, inUrl } = context.sentKey!;
    const address = clientAddress.ofRequest(context);
    const presented: PresentedKey = { key: text, inUrl, address: () => address };
    const place = streams.reserve(customer.id);
    let channel: Channel;
    try {
      await charge.take(context, endpoint);
      // The charge may have waited for the ledger. Meanwhile, an operator may have changed the key or the plan.
      const admission = await gate.recheck(presented);
      if (!admission.ok) throw admissionRefusal(admission);
      channel = streams.channel(board.view(admission.customer.plan.delaySeconds * 1000));
      // A large import or a new delay may have unloaded the series. Once they are loaded, nothing is awaited any more.
      const load = () => board.prepare(series, endpoint.requiredData, clock.now());
      for (let loading = load(); loading; loading = load()) await loading;
    } catch (error) {
      place.release();
      throw error;
    }
    const topics = channel.topics(symbols);
    const body = streams.open(place, {
      channel,
      pay: () => charge.takeForEvents(context, endpoint),
      topics,
      after: channel.sequenceOf(request.headers.get('last-event-id'), topics),
      presented,
      warnings,
      quotaRefusal: (spend) =>
        spend.reason === 'unavailable'
          ? streamEnd('the quota cannot be checked')
          : quotaRefusal(spend, context.customer!.plan, remainingQuota, 1),
    });
    return responses.stream(context, body);
  };
}
