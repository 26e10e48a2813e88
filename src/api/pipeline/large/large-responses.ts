import { PooledBuffer } from '../../../http/message/buffer-pool.ts';
import type { RawReply } from '../../../http/message/reply.ts';
import { Unavailable } from '../../../ledger/engine/errors.ts';
import type { ClientAddress } from '../../access/client-address.ts';
import type { MaybeAsync } from '../../model/maybe-async.ts';
import type { RequestContext } from '../request/request-context.ts';

/** Memory of the responses that the clients of an account have not read. Twenty of the longest fit. */
const UNREAD_BYTES_MAX = 64 * 1024 * 1024;

/** The large responses of an account. */
interface Account {
  /** How many are being built. */
  building: number;
  /** The memory of those that are built, until they are sent or their clients have disconnected. */
  unreadBytes: number;
  waiting: (() => void)[];
}

/**
 * Builds few large responses of an account at once, and none while its clients have too much to read. Otherwise one account
 * could fill the memory: with responses in progress, which all take turns, and with those that its clients do not read.
 * Visitors of the page share an account, so each address counts as one.
 *
 *     request ─► wait for its turn ─► build ─► send ─► read, or disconnected
 *                                    building  └── unreadBytes ──┘
 */
export class LargeResponses {
  readonly #clientAddress: ClientAddress;
  readonly #atOnceMax: number;
  readonly #unreadBytesMax: number;
  readonly #accounts = new Map<string, Account>();

  constructor(clientAddress: ClientAddress, atOnceMax: number, unreadBytesMax = UNREAD_BYTES_MAX) {
    this.#clientAddress = clientAddress;
    this.#atOnceMax = atOnceMax;
    this.#unreadBytesMax = unreadBytesMax;
  }

  /** Builds a response when it is the account's turn, unless the client has disconnected by then. */
  async build(context: RequestContext, build: () => MaybeAsync<RawReply>): Promise<RawReply> {
    const { id, visitors } = context.customer!;
    const name = visitors ? this.#clientAddress.ofRequest(context) : id;
    const account = this.#accounts.getOrInsertComputed(name, newAccount);
    if (this.#mayBuild(account)) account.building++;
    else await new Promise<void>((resolve) => account.waiting.push(resolve));
    try {
      if (context.peer() === '') throw new Unavailable('the client is gone');
      const reply = await build();
      this.#count(name, account, reply);
      return reply;
    } finally {
      account.building--;
      this.#startNext(name, account);
    }
  }

  #mayBuild({ building, unreadBytes }: Account): boolean {
    return building < this.#atOnceMax && unreadBytes <= this.#unreadBytesMax;
  }

  #count(name: string, account: Account, { bytes }: RawReply): void {
    if (!(bytes instanceof PooledBuffer)) return;
    const { length } = bytes.memory;
    account.unreadBytes += length;
    bytes.whenReleased(() => {
      account.unreadBytes -= length;
      this.#startNext(name, account);
    });
  }

  #startNext(name: string, account: Account): void {
    while (account.waiting.length > 0 && this.#mayBuild(account)) {
      account.building++;
      account.waiting.shift()!();
    }
    if (account.building === 0 && account.unreadBytes === 0) this.#accounts.delete(name);
  }
}

function newAccount(): Account {
  return { building: 0, unreadBytes: 0, waiting: [] };
}
