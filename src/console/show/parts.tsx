import type { ComponentChildren } from 'preact';
import { createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { isOutage, messageOf, NotSent, OpenpitError } from '../api/client.ts';
import { loadModule } from '../api/load-module.ts';

/** A notice, with optional actions. */
export function Notice({
  kind = 'info',
  title,
  children,
  action,
}: {
  kind?: 'info' | 'warning' | 'error' | 'done';
  title?: string;
  children?: ComponentChildren;
  action?: ComponentChildren;
}) {
  return (
    <div class={`notice ${kind}`} role={kind === 'error' ? 'alert' : 'status'}>
      <div>
        {title && <strong>{title}</strong>}
        {children && <div>{children}</div>}
      </div>
      {action && <div class="notice-action">{action}</div>}
    </div>
  );
}

/** The header of a column of buttons, visible only to screen readers. */
export function ActionsHead() {
  return (
    <th scope="col">
      <span class="visually-hidden">Actions</span>
    </th>
  );
}

/** The error that the page shows already: its parts need not repeat an outage or a used-up quota. */
export const ShownError = createContext<unknown>(undefined);

/** An error message with a way to continue. */
export function Failure({
  error,
  onRetry,
  retry = 'Try again',
}: {
  error: unknown;
  onRetry?: (() => void) | undefined;
  retry?: string | undefined;
}) {
  const shown = useContext(ShownError);
  if ((isOutage(shown) && isOutage(error)) || (isUsedUp(shown) && isUsedUp(error))) return null;
  const action = onRetry && (
    <button type="button" class="button" onClick={onRetry}>
      {retry}
    </button>
  );
  return (
    <Notice kind="error" title={titleOf(error)} action={action}>
      {messageOf(error)}
    </Notice>
  );
}

function isUsedUp(error: unknown): boolean {
  return error instanceof OpenpitError && error.code === 'quota_exhausted';
}

function titleOf(error: unknown): string {
  if (error instanceof NotSent) return 'Nothing was sent';
  if (!(error instanceof OpenpitError)) return 'Something went wrong on this page';
  if (error.status === 0) return 'No connection to the service';
  if (isUsedUp(error)) return 'The quota of this key is used up';
  if (error.code === 'no_data') return 'There is no data for this';
  if (error.code === 'unknown_symbol') return 'There is no such symbol';
  if (error.status === 429) return 'Too many requests';
  if (error.status === 401) return 'This key does not work';
  if (error.status === 403) return 'This key may not do that';
  if (error.status === 503) return 'The service is not ready';
  return error.status < 500 ? 'The request was refused' : 'The service could not answer';
}

/** What a placeholder looks like: the market's groups, a chart with its details, cards, a table, or lines of text. */
export type Shape = 'market' | 'chart' | 'cards' | 'table' | 'lines';

/** A placeholder with the shape of the content that is loading. */
export function Loading({
  label,
  shape = 'lines',
  lines = shape === 'lines' ? 3 : 7,
}: {
  label: string;
  shape?: Shape;
  lines?: number;
}) {
  return (
    <div class={`loading as-${shape}`} role="status" aria-live="polite">
      <span class="visually-hidden">{label}</span>
      {Array.from({ length: lines }, (_, i) => (
        <span class="skeleton" key={i} />
      ))}
    </div>
  );
}

const COPIED_MS = 1_600;

/** Copies a text, which is made when the button is pressed if it is a function. */
export function CopyButton({
  text,
  label,
  children = 'Copy',
}: {
  text: string | (() => string);
  label?: string;
  children?: string;
}) {
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle');
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async () => {
    const isCopied = await copyText(typeof text === 'string' ? text : text());
    setState(isCopied ? 'copied' : 'failed');
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setState('idle'), COPIED_MS);
  };
  return (
    <button type="button" class="button small" onClick={copy} aria-label={label}>
      <span aria-live="polite">
        {state === 'copied' ? 'Copied' : state === 'failed' ? 'Select and copy' : children}
      </span>
    </button>
  );
}

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return (await loadModule(() => import('../output/copy-by-selection.ts'))).copyBySelection(text);
  }
}

/** A choice among a few options. */
export function Choice<T extends string>({
  label,
  options,
  labels,
  value,
  onChange,
}: {
  label: string;
  options: readonly T[];
  /** Labels, where they differ from the values. */
  labels?: Readonly<Record<T, string>>;
  value: T | undefined;
  onChange: (value: T) => void;
}) {
  return (
    <fieldset class="choice">
      <legend class="visually-hidden">{label}</legend>
      {options.map((option) => (
        <button
          type="button"
          key={option}
          aria-pressed={option === value}
          onClick={() => onChange(option)}
          data-value={option}
        >
          {labels?.[option] ?? option}
        </button>
      ))}
    </fieldset>
  );
}
