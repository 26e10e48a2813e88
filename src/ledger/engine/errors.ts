/** Codes of Bun for a connection that is gone or cannot be made, and of the system below it. */
const CODES = /^(ERR_(POSTGRES|SQLITE)_CONNECTION_|ECONN|EPIPE|ETIMEDOUT|SQLITE_(BUSY|IOERR|CANTOPEN))/;

/** SQLite has met a page that is not what it should be, or a file that is not a database. */
const CORRUPT = /SQLITE_(CORRUPT|NOTADB)|database disk image is malformed|file is not a database/;
/** SQLSTATE: data corrupted, index corrupted. */
const CORRUPT_STATES = /^XX00[12]$/;
/** The same as PostgreSQL says it in English, for errors of which only the text is left. */
const CORRUPT_TEXTS =
  /invalid page in block|could not read block.* read only|missing chunk number \d+ for toast|index ".*" contains (unexpected zero|corrupted) page/;

/** The disk, or the share of it that this user may fill, is full; EFBIG is the limit of one file. */
const FULL_CODES = /^(SQLITE_FULL|ENOSPC|EDQUOT|EFBIG)/;

/**
 * SQLSTATE: connection exception, has become a standby, waited too long between two statements, not enough resources, not
 * accepting connections, took too long, shut down by its operator.
 */
const STATES = /^(08|25006|25P03|53|55000|57014|57P)/;
const FULL_STATE = '53100';
const PERMISSION_DENIED = '42501';
const LOCK_NOT_AVAILABLE = '55P03';
const FEATURE_NOT_SUPPORTED = '0A000';

/** Something that is away for the moment. The message says what, and goes to the caller. */
export class Unavailable extends Error {
  /** It survives the way from one thread to another, where the class does not. */
  readonly code = 'ERR_UNAVAILABLE';
}

/** What is away for now, in words for the caller; undefined when the error says that something is wrong instead. */
export function outageReason(error: unknown): string | undefined {
  const { code, state } = codesOf(error);
  if (code === 'ERR_UNAVAILABLE') return messageOf(error);
  if (isCorrupt(error)) return 'its ledger is damaged';
  if (isFull(error)) return 'its disk is full, and nothing new can be kept';
  const isAway = CODES.test(code) || (code === 'ERR_POSTGRES_SERVER_ERROR' && STATES.test(state));
  return isAway ? 'its ledger cannot be reached' : undefined;
}

/** Whether an error says that there is no room left for what is to be written. */
export function isFull(error: unknown): boolean {
  const { code, state } = codesOf(error);
  return FULL_CODES.test(code) || (code === 'ERR_POSTGRES_SERVER_ERROR' && state === FULL_STATE);
}

/** Whether an error, or the text of one, says that a page of the ledger is damaged. */
export function isCorrupt(error: unknown): boolean {
  const { code, state } = codesOf(error);
  const message = messageOf(error);
  return CORRUPT_STATES.test(state) || CORRUPT.test(`${code} ${message}`) || CORRUPT_TEXTS.test(message);
}

/**
 * Whether a prepared statement of this connection returns other columns than before, because a migration changed a table.
 * Prepared again, it works. The name of the routine tells it from other features that PostgreSQL lacks; texts are translated.
 */
export function isStalePlan(error: unknown): boolean {
  return (
    codesOf(error).state === FEATURE_NOT_SUPPORTED &&
    error instanceof Error &&
    'routine' in error &&
    error.routine === 'RevalidateCachedQuery'
  );
}

/** Whether the database user lacks a privilege for a statement. */
export function isPermissionDenied(error: unknown): boolean {
  return codesOf(error).state === PERMISSION_DENIED;
}

/** Whether a statement has waited for a lock for as long as `lock_timeout` allows. */
export function isLockTimeout(error: unknown): boolean {
  return codesOf(error).state === LOCK_NOT_AVAILABLE;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Bun gives the SQLSTATE of PostgreSQL in `errno`. */
function codesOf(error: unknown): { code: string; state: string } {
  if (!(error instanceof Error)) return { code: '', state: '' };
  return {
    code: 'code' in error ? String(error.code) : '',
    state: 'errno' in error ? String(error.errno) : '',
  };
}
