import { redactKeys } from '../../../gate/key.ts';
import type { Meter } from '../../../gate/meter/meter.ts';
import type { ClientAddress } from '../../access/client-address.ts';
import { type Refusal, refuse } from '../../errors/errors.ts';
import type { ConfirmedWrites } from '../../ledger-reads/confirmed-writes.ts';
import type { MarketViews } from '../../market/market-views.ts';
import type { Visits } from '../../market/visits.ts';
import type {
  AccountEndpoint,
  AdminEndpoint,
  Endpoint,
  MarketEndpoint,
  OpenEndpoint,
  OwnerEndpoint,
} from '../../model/endpoint.ts';
import { isOff, readFlag, single } from '../../params/parameters.ts';
import { parameterWarnings } from '../../params/synonyms.ts';
import { warningHeaders } from '../../response/headers.ts';
import type { Responses } from '../../response/responses.ts';
import type { CostReport } from '../dry-run/cost-report.ts';
import type { RequestContext } from '../request/request-context.ts';
import type { Step } from '../request/step.ts';
import type { Charge } from './charge.ts';
import type { Management } from './management.ts';

export interface ServeOptions {
  charge: Charge;
  clientAddress: ClientAddress;
  confirmedWrites: ConfirmedWrites;
  costReport: CostReport;
  management: Management;
  marketViews: MarketViews;
  meter: Meter;
  responses: Responses;
  visits: Visits;
}

/** Health, the site and its documents: for anybody. */
export function serveOpen({ clientAddress }: ServeOptions): Step<OpenEndpoint> {
  return (context, endpoint) =>
    endpoint.answer({
      request: context.request,
      id: context.pathId,
      peer: context.peer(),
      address: () => clientAddress.ofRequest(context),
    });
}

/** The operator's endpoints: they need the admin token. */
export function serveAdmin(options: ServeOptions): Step<AdminEndpoint> {
  const { clientAddress, confirmedWrites, management, responses } = options;
  return async (context, endpoint) => {
    const body = await management.admin(endpoint, context, () => clientAddress.ofRequest(context));
    if (context.request.method !== 'GET') confirmedWrites.confirm();
    return responses.admin(context, body);
  };
}

/** What customers read about their own account. */
export function serveAccount({ meter, responses }: ServeOptions): Step<AccountEndpoint> {
  return async (context, endpoint) => {
    const body = await endpoint.answer(context.customer!, meter, context.query);
    return responses.account(context, withWarnings(body, context, endpoint));
  };
}

/** What customers may change in their own account. */
export function serveOwner(options: ServeOptions): Step<OwnerEndpoint> {
  const { clientAddress, management, responses } = options;
  return async (context, endpoint) => {
    const { customer, knownKey } = context;
    const address = () => clientAddress.ofRequest(context);
    const body = await management.owner(endpoint, context, customer!, knownKey!, address);
    return responses.account(context, withWarnings(body, context, endpoint));
  };
}

type JsonBody = Readonly<Record<string, unknown>>;

function withWarnings(body: JsonBody, { query }: RequestContext, { path }: Endpoint): JsonBody {
  const warnings = parameterWarnings(query, path);
  return warnings.length === 0 ? body : { ...body, warnings: warnings.map(redactKeys) };
}

/** The market view for a unit. Whoever has paid for it can read it and its newer quotes again for an hour. */
export function serveMarket(options: ServeOptions): Step<MarketEndpoint> {
  const { charge, costReport, marketViews, responses, visits } = options;
  return async (context, endpoint) => {
    const { id, plan } = context.customer!;
    const { now, query } = context;
    const visit = single(query, 'visit');
    const isPaid = visit !== undefined && visits.isValid(visit, id, now);
    if (endpoint.part === 'quotes' && !isPaid) throw visitRefusal(visit);
    const isBrief = endpoint.part === 'full' && isOff(query, 'closes');
    const isDryRun = readFlag(query, 'dryRun');
    const body = await marketViews.body(isBrief ? 'brief' : endpoint.part, query, plan, now);
    const free = responses.withoutBody(context, body);
    const warnings = parameterWarnings(query, endpoint.path);
    if (visit && !isPaid) warnings.push(INVALID_VISIT);
    if (isDryRun) {
      return costReport.send(context, { units: isPaid || free ? 0 : 1, warnings });
    }
    if (free) return free;
    const headers = warningHeaders(warnings); // all customers share the body
    if (isPaid) return responses.shared(context, body, headers);
    if (!context.chargedBefore) await charge.take(context, endpoint); // the charge pays for newer quotes, too
    return responses.shared(context, body, { ...headers, 'Openpit-Visit': visits.issue(id, now) });
  };
}

const INVALID_VISIT =
  'The parameter "visit" has no effect: it is not that of a visit of this account in the last hour.';

function visitRefusal(visit: string | undefined): Refusal {
  if (visit !== undefined && visit !== '') return refuse('invalid_visit', {});
  const example = 'VALUE, with the value of the header "Openpit-Visit" of a response of /market';
  return refuse('missing_parameter', { name: 'visit', example });
}
