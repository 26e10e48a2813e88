import type { ComponentChildren } from 'preact';
import type { AccountAnswer, ConfigAnswer } from '../api/answers.ts';
import { askWithKey, isAboutKey } from '../api/client.ts';
import { useLoad } from '../api/load.ts';
import { setSecret, useKey } from '../api/session.ts';
import { lazy } from '../show/lazy.tsx';
import { withStyles } from '../show/load-style.ts';
import { Failure, Loading, type Shape } from '../show/parts.tsx';
import formStyle from '../style/forms.css' with { type: 'file' };

const AskForKey = lazy(async () => (await withStyles(import('./ask-for-key.tsx'), formStyle)).AskForKey);

export interface Holder extends AccountAnswer {
  apiKey: string;
  kind: 'own' | 'demo' | 'public';
  /** Reads the account again, whose plan or key may have changed. */
  reload(): void;
}

/** The account as last read: a page shows at once what another one has read. */
let known: { key: string; answer: AccountAnswer } | undefined;

/** Continues with a new key of the same account. The page stays as it is: it may show the key, which is shown once. */
export function replaceKey(key: string, answer: AccountAnswer): void {
  known = { key, answer };
  setSecret('key', key);
}

/** Shows content that needs a key, or asks for a key. */
export function WithKey({
  config,
  shape,
  children,
}: {
  config: ConfigAnswer;
  /** Of the content. */
  shape: Shape;
  children: (holder: Holder) => ComponentChildren;
}) {
  const { key, kind } = useKey(config);
  const account = useLoad(async () => {
    if (key === '') return undefined;
    const answer = await askWithKey<AccountAnswer>(key, '/account');
    known = { key, answer };
    return answer;
  }, [key]);
  const answer = account.data ?? (known?.key === key ? known.answer : undefined);
  if (kind === 'none') return <AskForKey />;
  if (isAboutKey(account.error)) return <AskForKey error={account.error} />;
  if (answer) return <>{children({ ...answer, apiKey: key, kind, reload: account.reload })}</>;
  if (account.state === 'failed') return <Failure error={account.error} onRetry={account.reload} />;
  return <Loading label="Reading the account" shape={shape} />;
}
