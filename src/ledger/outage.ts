/** Codes of Bun for a connection that is gone or cannot be made, and of the system below it. */
const CODES = /^(ERR_(POSTGRES|SQLITE)_CONNECTION_|ECONN|EPIPE|ETIMEDOUT|SQLITE_(BUSY|IOERR|CANTOPEN))/;

/**
 * SQLSTATE: connection exception, has become a standby, waited too long between two statements, not enough resources, not
 * accepting connections, took too long, shut down by its operator.
 */
const STATES = /^(08|25006|25P03|53|55000|57014|57P)/;

/** Whether an error says that the ledger cannot be reached now, rather than that a question to it was wrong. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  const state = 'errno' in error ? String(error.errno) : '';
  return CODES.test(code) || (code === 'ERR_POSTGRES_SERVER_ERROR' && STATES.test(state));
}
