export type Status = 'ok' | 'warning' | 'problem';

/** The result of one check. */
export interface Finding {
  /** A stable name such as `ledger.reachable`; the word before the dot is its area. */
  check: string;
  status: Status;
  message: string;
  /** What to do about it. */
  fix?: string;
}

export function ok(check: string, message: string): Finding {
  return { check, status: 'ok', message };
}

export function warning(check: string, message: string, fix: string): Finding {
  return { check, status: 'warning', message, fix };
}

export function problem(check: string, message: string, fix: string): Finding {
  return { check, status: 'problem', message, fix };
}

const SHOWN_MAX = 5;

/** The first few of many. */
export function someOf(names: readonly string[], total = names.length): string {
  const shown = names.slice(0, SHOWN_MAX).join(', ');
  return total > SHOWN_MAX ? `${shown} and ${total - SHOWN_MAX} more` : shown;
}
