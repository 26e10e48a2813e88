import type { Board } from '../../board/board.ts';
import type { View } from '../../board/views/view.ts';
import type { RequestedSymbol } from '../model/price-query.ts';
import type { StreamConnection } from './connection.ts';
import { Topic } from './topic.ts';

/**
 * All streams of one plan delay. Topics stay in memory when nobody is subscribed, so a client that reconnects receives
 * only what changed while it was away.
 */
export class Channel {
  readonly view: View;
  readonly connections = new Set<StreamConnection>();
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
  topics(symbols: readonly RequestedSymbol[]): Topic[] {
    const topics = symbols.map((requested) => this.#topic(requested));
    this.#refresh(topics);
    return topics;
  }

  /** Updates every topic that has subscribers. */
  async publish(now: number): Promise<void> {
    const subscribed = new Set<Topic>();
    for (const { topics } of this.connections) for (const topic of topics) subscribed.add(topic);
    for (const [code, topic] of this.#topics) {
      if (topic.isTransient && !subscribed.has(topic)) this.#topics.delete(code);
    }
    const series = [...new Set([...subscribed].flatMap((topic) => topic.series))];
    await this.#board.ready(series, 'recent', now);
    this.#refresh([...subscribed]);
  }

  /**
   * The event id of a topic's last change. It is valid in this process and view only, and counts only changes that the
   * view shows, so it reveals nothing that a delayed plan may not see yet.
   */
  readonly eventId = ({ sequence }: Topic): string => {
    return `${this.#instance}-${this.view.delayMs}-${sequence}`;
  };

  /** The sequence number in an event id; 0, before all changes, for an id of another process or view. */
  sequenceOf(id: string | null): number {
    const prefix = `${this.#instance}-${this.view.delayMs}-`;
    return id?.startsWith(prefix) ? Number.parseInt(id.slice(prefix.length), 10) || 0 : 0;
  }

  #topic(requested: RequestedSymbol): Topic {
    const known = this.#topics.get(requested.code);
    if (known?.isFor(requested)) return known;
    const topic = new Topic(requested);
    this.#topics.set(requested.code, topic);
    return topic;
  }

  /** Updates topics, and offers the changed ones to all connections: a topic reports each change only once. */
  #refresh(topics: readonly Topic[]): void {
    const changed = topics.filter((topic) => topic.update(this.view, this.#board, () => ++this.#sequence));
    if (changed.length === 0) return;
    for (const connection of this.connections) connection.offer(changed);
  }
}
