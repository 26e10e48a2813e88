import { ConfirmedWrites } from '../../api/ledger-reads/confirmed-writes.ts';
import type { ListFeedStatus } from '../../api/model/feed-status.ts';
import { Board } from '../../board/board.ts';
import { PROVIDERS } from '../../feeds/providers/index.ts';
import { FeedStates } from '../../feeds/thread/feed-states.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { FollowerLag } from '../../ops/follower-lag.ts';
import { createFollower } from './follower.ts';
import type { Access } from './open-access.ts';
import type { CoreSetup } from './setup.ts';

/** The prices in memory, and what keeps them up to date. */
export interface ServedPrices {
  readonly board: Board;
  readonly feeds: ListFeedStatus;
  /** Writes that were acknowledged to clients. */
  readonly confirmedWrites: ConfirmedWrites;
  /** How far the board is behind the ledger. */
  readonly followerLag: FollowerLag;
  /** Loads what was written to the ledger since the last call. */
  follow(): Promise<void>;
}

export async function openPrices(
  { config, clock, log }: CoreSetup,
  ledger: Ledger,
  { gate, meter }: Access,
): Promise<ServedPrices> {
  const delaysMs = [...gate.directory.plans].map((plan) => plan.delaySeconds * 1000);
  const historyBytesMax = config.historyMb * 1024 * 1024;
  const simulated = config.demo !== 'off';
  const board = await Board.open({ ledger, clock, historyBytesMax, simulated }, delaysMs);
  const feedStates = new FeedStates(ledger, PROVIDERS);
  const confirmedWrites = new ConfirmedWrites();
  const followerLag = new FollowerLag(clock);
  const parts = { ledger, gate, meter, board, feedStates, confirmedWrites, followerLag, clock, log };
  const follow = createFollower(parts);
  return { board, feeds: () => feedStates.list(), confirmedWrites, followerLag, follow };
}
