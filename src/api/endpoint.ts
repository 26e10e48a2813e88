import type { Board } from '../board/board.ts';
import type { Loaded, Series } from '../board/series.ts';
import type { View } from '../board/view.ts';
import type { CountedEndpoint } from '../gate/endpoints.ts';
import type { Plan } from '../ledger/accounts.ts';
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
  /** Whether it holds today, and so may change at any moment. */
  holdsToday: boolean;
}

/**
 * An endpoint reads a request to a question and answers it from a view. `read` throws a Refusal when the request is
 * wrong; between the two the pipeline loads `series`.
 */
export interface Endpoint<Question extends { series: readonly Series[] } = { series: readonly Series[] }> {
  /** Under which its answers are counted. */
  readonly name: CountedEndpoint;
  readonly path: string;
  /** How much of a series it looks at. */
  readonly needs: Loaded;
  read(context: Context): Question;
  answer(question: Question, view: View, context: Context): Answer;
}

/** Keeps an endpoint's own question type inside it: the pipeline hands `answer` what `read` gave. */
export function endpoint<Q extends { series: readonly Series[] }>(definition: Endpoint<Q>): Endpoint {
  return definition as unknown as Endpoint;
}
