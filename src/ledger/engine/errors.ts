import { codeOf, messageOf } from '../../runtime/log/log.ts';

/** Codes of Bun and of the operating system for a connection that was lost or cannot be opened. */
const CODES = /^(ERR_(POSTGRES|SQLITE)_CONNECTION_|ECONN|EPIPE|ETIMEDOUT|SQLITE_(BUSY|IOERR|CANTOPEN))/;

/** SQLite found a damaged page, or a file that is not a database. */
const CORRUPT = /SQLITE_(CORRUPT|NOTADB)|database disk image is malformed|file is not a database/;
/** SQLSTATE: data corrupted, index corrupted. */
const CORRUPT_STATES = /^XX00[12]$/;
/** PostgreSQL's messages in English, for errors that have lost their code. */
const CORRUPT_TEXTS =
  /invalid page in block|could not read block.* read only|missing chunk number \d+ for toast|index ".*" contains (unexpected zero|corrupted) page/;

/** The disk or the user's disk quota is full; EFBIG is the size limit of one file. */
const FULL_CODES = /^(SQLITE_FULL|ENOSPC|EDQUOT|EFBIG)/;

/**
 * SQLSTATE: connection exception, read-only (became a standby), idle in transaction, insufficient resources, not accepting
 * connections, statement timeout, shutdown by the operator.
 */
const STATES = /^(08|25006|25P03|53|55000|57014|57P)/;
/** Of every error that has a SQLSTATE. */
const SERVER_ERROR = 'ERR_POSTGRES_SERVER_ERROR';
const FULL_STATE = '53100';
const PERMISSION_DENIED = '42501';
const LOCK_NOT_AVAILABLE = '55P03';
const FEATURE_NOT_SUPPORTED = '0A000';

/** Something is temporarily unavailable. The message is shown to the caller. */
export class Unavailable extends Error {
  /** Unlike the class, it survives being posted to another thread. */
  readonly code = 'ERR_UNAVAILABLE';
}

/** Why the ledger is unavailable, as a message for the caller; undefined when the error is not an outage. */
export function outageReason(error: unknown): string | undefined {
  const code = codeOf(error);
  if (code === 'ERR_UNAVAILABLE') return messageOf(error);
  if (isCorrupt(error)) return 'its ledger is damaged';
  if (isFull(error)) return 'its disk is full, and nothing new can be kept';
  const isAway = CODES.test(code) || (code === SERVER_ERROR && STATES.test(sqlStateOf(error)));
  return isAway ? 'its ledger cannot be reached' : undefined;
}

/** Whether an error means that the disk is full. */
export function isFull(error: unknown): boolean {
  const code = codeOf(error);
  return FULL_CODES.test(code) || (code === SERVER_ERROR && sqlStateOf(error) === FULL_STATE);
}

/** Whether an error or its message means that a page of the ledger is damaged. */
export function isCorrupt(error: unknown): boolean {
  const message = messageOf(error);
  return (
    CORRUPT_STATES.test(sqlStateOf(error)) ||
    CORRUPT.test(`${codeOf(error)} ${message}`) ||
    CORRUPT_TEXTS.test(message)
  );
}

/**
 * Whether a prepared statement is stale because a migration changed a table. It works when it is prepared again. The
 * routine name distinguishes it from other unsupported features; messages are translated.
 */
export function isStalePlan(error: unknown): boolean {
  return (
    sqlStateOf(error) === FEATURE_NOT_SUPPORTED &&
    error instanceof Error &&
    'routine' in error &&
    error.routine === 'RevalidateCachedQuery'
  );
}

/** Whether the database user lacks a privilege for a statement. */
export function isPermissionDenied(error: unknown): boolean {
  return sqlStateOf(error) === PERMISSION_DENIED;
}

/** Whether a statement exceeded `lock_timeout`. */
export function isLockTimeout(error: unknown): boolean {
  return sqlStateOf(error) === LOCK_NOT_AVAILABLE;
}

/** SQLSTATE, which Bun puts into `errno`; empty for other errors. */
export function sqlStateOf(error: unknown): string {
  return error instanceof Error && 'errno' in error ? String(error.errno) : '';
}
