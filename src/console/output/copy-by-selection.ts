/** Copies a text without `navigator.clipboard`, which pages have only on HTTPS and on localhost. */
export function copyBySelection(text: string): boolean {
  const focused = document.activeElement as HTMLElement | null;
  const field = document.createElement('textarea');
  field.className = 'visually-hidden';
  field.value = text;
  (focused?.parentElement ?? document.body).append(field); // nothing outside of an open dialog can be selected
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  focused?.focus();
  return isCopied;
}
