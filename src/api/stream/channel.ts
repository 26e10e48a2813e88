import type { Board } from '../../board/board.ts';
import type { View } from '../../board/views/view.ts';
import type { RequestedSymbol } from '../model/price-query.ts';
import type { StreamConnection } from './connection.ts';
import { Topic } from './topic.ts';

/** Ad hoc formulas without subscribers that are kept. Each takes 20 KB at most, as a formula has 500 characters. */
const UNUSED_FORMULAS_MAX = 200;

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
  #isLoading = false;

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

  /**
   * Updates every topic that has subscribers. Those whose series are not loaded follow with the next call after `loaded`; `loading`
   * while an earlier call loads them.
   */
  async publish(now: number): Promise<'current' | 'loading' | 'loaded'> {
    const subscribed = this.#subscribed();
    const unused = [...this.#topics].filter(([, topic]) => topic.isTransient && !subscribed.has(topic));
    for (const [code] of unused.slice(0, -UNUSED_FORMULAS_MAX)) this.#topics.delete(code);
    const series = [...new Set([...subscribed].flatMap((topic) => topic.series))];
    const loading = this.#isLoading ? undefined : this.#board.prepare(series, 'recent', now);
    this.#refresh([...subscribed]);
    if (!loading) return this.#isLoading ? 'loading' : 'current';
    this.#isLoading = true;
    try {
      await loading;
    } finally {
      this.#isLoading = false;
    }
    return 'loaded';
  }

  /** The connections with a symbol or formula that was redefined or deleted. */
  outdated(): StreamConnection[] {
    const outdated = new Set([...this.#subscribed()].filter((topic) => !topic.isIn(this.#board.catalog)));
    if (outdated.size === 0) return [];
    return [...this.connections].filter(({ topics }) => !outdated.isDisjointFrom(topics));
  }

  /**
   * The event id of a topic's last change, for a stream of these topics. It is valid in this process and view only, and counts
   * only changes that the view shows, so it reveals nothing that a delayed plan may not see yet.
   */
  eventIds(topics: readonly Topic[]): (topic: Topic) => string {
    const prefix = this.#idPrefix(topics);
    return ({ sequence }) => `${prefix}${sequence}`;
  }

  /** The sequence number in an event id; 0, before all changes, for an id of another process, view or list of symbols. */
  sequenceOf(id: string | null, topics: readonly Topic[]): number {
    const prefix = this.#idPrefix(topics);
    return id?.startsWith(prefix) ? Number.parseInt(id.slice(prefix.length), 10) || 0 : 0;
  }

  #idPrefix(topics: readonly Topic[]): string {
    const codes = topics.map(({ requested }) => requested.code).sort();
    return `${this.#instance}-${this.view.delayMs}-${Bun.hash.xxHash32(codes.join()).toString(36)}-`;
  }

  #subscribed(): Set<Topic> {
    const subscribed = new Set<Topic>();
    for (const { topics } of this.connections) for (const topic of topics) subscribed.add(topic);
    return subscribed;
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
