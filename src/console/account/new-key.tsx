import type { IssuedAnswer } from '../api/answers.ts';
import { CopyButton, Notice } from '../show/parts.tsx';

/** A key whose text is shown until the user has saved it. */
export function NewKey({
  issued,
  title = 'Your new key, shown only once',
  onDone,
}: {
  issued: IssuedAnswer;
  title?: string;
  onDone: () => void;
}) {
  return (
    <Notice
      kind="done"
      title={title}
      action={
        <button type="button" class="button" onClick={onDone}>
          I have saved it
        </button>
      }
    >
      <p>
        <code>{issued.key.id}</code> is <code class="new-key">{issued.apiKey}</code>{' '}
        <CopyButton text={issued.apiKey} label="Copy the new key" />
      </p>
    </Notice>
  );
}
