import { messageOf } from '../../../../runtime/log/log.ts';
import { Unavailable } from '../../errors.ts';
import { hostOf } from './host-urls.ts';
import { type HostState, isReachable, probeHost, type Unreachable } from './probe.ts';

type Probe = (url: string) => Promise<HostState | Unreachable>;

/** How often all hosts are probed: an old primary may come back after another server has taken over. */
const REVIEW_EVERY_MS = 5_000;
/** Pause between two searches: many callers fail together until a standby is promoted. */
const SEARCH_PAUSE_MS = 200;

/**
 * Finds the primary among several servers, and follows it when another one takes over.
 *
 *     call fails, or 5 s have passed ─► probe all hosts at once ─► primary on the highest timeline ─► onMoved
 *
 * All hosts are probed, because the first that accepts writes may be the old primary, which came back after its standby
 * was promoted. It is on a lower timeline. A server on a timeline below the highest one ever seen is never chosen, and neither
 * is a server of another cluster.
 */
export class Primary {
  readonly #urls: readonly string[];
  readonly #probe: Probe;
  #current: HostState | undefined;
  #searching: Promise<void> | undefined;
  #searchedAt = Number.NEGATIVE_INFINITY;
  #timer: ReturnType<typeof setInterval> | undefined;
  #onMoved: () => void = () => {};

  private constructor(urls: readonly string[], probe: Probe) {
    this.#urls = urls;
    this.#probe = probe;
  }

  /** Throws when no host accepts writes. */
  static async find(urls: readonly string[], probe: Probe = probeHost): Promise<Primary> {
    const primary = new Primary(urls, probe);
    const states = await Promise.all(urls.map(probe));
    primary.#current = choosePrimary(states, undefined);
    if (!primary.#current) throw noPrimary(states);
    return primary;
  }

  /** The URL of the last known primary. */
  get url(): string {
    return this.#current!.url;
  }

  /** Calls `onMoved` when another server has taken over. Probes all hosts periodically. */
  watch(onMoved: () => void): void {
    this.#onMoved = onMoved;
    this.#timer = setInterval(() => void this.search(), REVIEW_EVERY_MS);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#onMoved = () => {};
  }

  /** Probes all hosts. Concurrent calls share one search; the next one starts after a pause. */
  search(): Promise<void> {
    this.#searching ??= this.#search().finally(() => {
      this.#searching = undefined;
      this.#searchedAt = performance.now();
    });
    return this.#searching;
  }

  async #search(): Promise<void> {
    const pauseMs = this.#searchedAt + SEARCH_PAUSE_MS - performance.now();
    if (pauseMs > 0) await Bun.sleep(pauseMs);
    const before = this.#current!;
    const found = choosePrimary(await Promise.all(this.#urls.map(this.#probe)), before);
    if (!found) return;
    this.#current = found;
    if (found.url !== before.url) this.#onMoved();
  }
}

/** The primary on the highest timeline; of two equals, the current one. Exported for its tests. */
export function choosePrimary(
  states: readonly (HostState | Unreachable)[],
  current: HostState | undefined,
): HostState | undefined {
  const primaries = states.filter(isReachable).filter(({ isPrimary }) => isPrimary);
  if (!current) requireOneCluster(primaries);
  let best: HostState | undefined;
  for (const state of primaries) {
    if (current && !isSuccessor(state, current)) continue;
    if (!best || state.timeline > best.timeline) best = state;
    else if (state.timeline === best.timeline && state.url === current?.url) best = state;
  }
  return best;
}

/** Whether a server has every write up to the promotion that made `current` the primary. */
function isSuccessor(state: HostState, current: HostState): boolean {
  return state.systemId === current.systemId && state.timeline >= current.timeline;
}

function requireOneCluster(primaries: readonly HostState[]): void {
  if (new Set(primaries.map(({ systemId }) => systemId)).size <= 1) return;
  const hosts = primaries.map(({ url }) => hostOf(url)).join(' and ');
  throw new Error(`${hosts} are primaries of different databases: name one primary and its standbys`);
}

/** An error that makes callers retry: a standby may be promoted soon. */
function noPrimary(states: readonly (HostState | Unreachable)[]): Unavailable {
  const reasons = states.map((state) => {
    const reason = isReachable(state) ? 'a standby' : messageOf(state.error);
    return `${hostOf(state.url)}: ${reason}`;
  });
  return new Unavailable(`no PostgreSQL host accepts writes (${reasons.join('; ')})`);
}
