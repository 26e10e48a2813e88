import type { Board } from '../../board/board.ts';
import type { View } from '../../board/views/view.ts';
import type { AskedSymbol } from '../params/symbol-set.ts';
import type { Connection } from './connection.ts';
import { Topic } from './topic.ts';

/**
 * All streams of one plan delay. Topics stay when nobody listens, so that a client that comes back is told what changed
 * while it was away and nothing else.
 */
export class Channel {
  readonly view: View;
  readonly connections = new Set<Connection>();
  readonly #board: Board;
  readonly #instance: string;
  readonly #topics = new Map<string, Topic>();
  #sequence = 0;

  constructor(view: View, board: Board, instance: string) {
    this.view = view;
    this.#board = board;
    this.#instance = instance;
  }

  /** The topics of some symbols, up to date. Their series must be loaded. */
  topics(symbols: readonly AskedSymbol[]): Topic[] {
    const topics = symbols.map((asked) => this.#topic(asked));
    for (const topic of topics) this.#update(topic);
    return topics;
  }

  /** Brings every topic that somebody listens to up to date, and tells who does. */
  async turn(now: number): Promise<void> {
    const heard = new Set<Topic>();
    for (const { topics } of this.connections) for (const topic of topics) heard.add(topic);
    const series = [...heard].map(({ asked }) => asked.series);
    await this.#board.ready(series, 'recent', now);
    const changed = new Set([...heard].filter((topic) => this.#update(topic)));
    if (changed.size === 0) return;
    for (const connection of this.connections) connection.offer(changed);
  }

  /**
   * The id of a change. It belongs to this process and this view, and counts that view's changes alone: it says nothing
   * of what a delayed plan may not see yet.
   */
  idOf({ sequence }: Topic): string {
    return `${this.#instance}-${this.view.delayMs}-${sequence}`;
  }

  /** The place of a change by its id; 0, before everything, when the id is of another process or view. */
  sequenceOf(id: string | null): number {
    const prefix = `${this.#instance}-${this.view.delayMs}-`;
    return id?.startsWith(prefix) ? Number.parseInt(id.slice(prefix.length), 10) || 0 : 0;
  }

  #topic(asked: AskedSymbol): Topic {
    const known = this.#topics.get(asked.code);
    if (known?.asked.series === asked.series) return known;
    const topic = new Topic(asked);
    this.#topics.set(asked.code, topic);
    return topic;
  }

  #update(topic: Topic): boolean {
    return topic.update(this.view, this.#board, () => ++this.#sequence);
  }
}
