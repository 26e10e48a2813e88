import type { Board } from '../board/board.ts';
import type { Loaded, Series } from '../board/series.ts';
import type { View } from '../board/view.ts';
import type { Customer } from '../gate/directory.ts';
import type { CountedEndpoint } from '../gate/endpoints.ts';
import type { Meter } from '../gate/meter.ts';
import type { Plan } from '../ledger/accounts.ts';
import { JSON_TYPE } from './headers.ts';
import type { Query } from './query.ts';

/** What an endpoint that serves prices may look at. */
export interface Context {
  query: Query;
  plan: Plan;
  board: Board;
  now: number;
}

/** The body of a success: `prefix` changes with every answer (a timestamp), `content` only when the data does. */
export interface Answer {
  prefix: string;
  content: string;
  /** Its media type. */
  type: string;
  /** Whether it holds today, and so may change at any moment. */
  holdsToday: boolean;
}

/**
 * An endpoint that serves prices and costs a unit. It reads a request to a question and answers it from a view. `read`
 * throws a Refusal when the request is wrong; between the two the pipeline loads `series`.
 */
export interface PriceEndpoint<
  Question extends { series: readonly Series[] } = { series: readonly Series[] },
> {
  readonly kind: 'prices';
  /** Under which its answers are counted. */
  readonly name: CountedEndpoint;
  readonly path: string;
  /** How much of a series it looks at. */
  readonly needs: Loaded;
  read(context: Context): Question;
  answer(question: Question, view: View, context: Context): Answer;
}

/** An endpoint that tells a customer about itself. It is free, and its errors are in the field `error`. */
export interface AccountEndpoint {
  readonly kind: 'account';
  readonly name: string;
  readonly path: string;
  answer(customer: Customer, meter: Meter, query: Query): Promise<Readonly<Record<string, unknown>>>;
}

export type Endpoint = PriceEndpoint | AccountEndpoint;

/** Keeps an endpoint's own question type inside it: the pipeline hands `answer` what `read` gave. */
export function priceEndpoint<Q extends { series: readonly Series[] }>(
  definition: Omit<PriceEndpoint<Q>, 'kind'>,
): PriceEndpoint {
  return { kind: 'prices', ...definition } as unknown as PriceEndpoint;
}

/** An answer in JSON. */
export function json(content: string, holdsToday: boolean, prefix = ''): Answer {
  return { prefix, content, holdsToday, type: JSON_TYPE };
}
