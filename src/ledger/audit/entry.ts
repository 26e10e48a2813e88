/** How a change reached the ledger: a command, the admin API, the operator page, or a customer's own key. */
export const AUDIT_WAYS = ['cli', 'api', 'page', 'key'] as const;

/** Everything that the audit log records. */
export const AUDIT_ACTIONS = [
  'account.create',
  'account.update',
  'account.delete',
  'key.create',
  'key.update',
  'key.rotate',
  'key.revoke',
  'plan.create',
  'plan.update',
  'plan.delete',
  'symbol.create',
  'symbol.update',
  'symbol.delete',
  'formula.create',
  'formula.update',
  'formula.delete',
  'feed.enable',
  'feed.disable',
  'feed.addresses',
  'feed.run',
  'sample.load',
  'quarantine.release',
  'quarantine.drop',
  'bars.withdraw',
  'bars.correct',
  'bars.revert',
  'import.start',
  'import.undo',
  'backup.create',
  'backup.delete',
  'webhook.show-secret',
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Who changes something. */
export interface Actor {
  /** A user of the machine, the name that an operator gave, or the id of a customer's key. */
  name: string;
  via: (typeof AUDIT_WAYS)[number];
  /** The client's address. */
  address?: string | undefined;
}

export interface AuditChange {
  action: AuditAction;
  /** The id of what was changed: an account, a key, a plan, a symbol, a feed. */
  target: string;
  /** What changed. Never a secret. */
  details?: Readonly<Record<string, unknown>>;
}

export interface AuditEntry extends Required<AuditChange> {
  id: string;
  at: number;
  actor: string;
  via: Actor['via'];
  address: string | undefined;
}

/** Entries have UUIDs of version 7, whose order is that of their times. */
export function isEntryId(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
}

/** The fields that differ, each as `[before, after]`. */
export function changedFields<T extends object>(
  before: Readonly<T>,
  after: Readonly<T>,
): Record<string, readonly [unknown, unknown]> {
  const fields = Object.entries(after) as [string & keyof T, unknown][];
  return Object.fromEntries(
    fields
      .filter(([field, value]) => !Bun.deepEquals(before[field], value))
      .map(([field, value]) => [field, [before[field], value]]),
  );
}
