import { mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cleanUpOnSignal } from '../framework/clean-up.ts';
import { requireFile } from '../framework/files.ts';

/**
 * Calls `work` with the path of a file that can be read more than once. Standard input is copied to a temporary file, which is
 * removed also if a signal ends the command.
 */
export async function withInput<T>(operand: string, work: (path: string) => Promise<T>): Promise<T> {
  if (operand !== '-') {
    requireFile(operand);
    return work(operand);
  }
  const folder = join(tmpdir(), `openpit-import-${crypto.randomUUID()}`);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  using _ = cleanUpOnSignal(remove); // before there is anything to remove
  try {
    mkdirSync(folder, { mode: 0o700 });
    const path = join(folder, 'input');
    const writer = Bun.file(path).writer();
    for await (const chunk of Bun.stdin.stream()) {
      writer.write(chunk);
      await writer.flush();
    }
    await writer.end();
    return await work(path);
  } finally {
    remove();
  }
}
