/** Whether no page of a SQLite file is damaged. */
export function isSqliteSound(path: string): Promise<boolean> {
  const thread = new Worker(new URL('./integrity-thread.ts', import.meta.url));
  return new Promise<boolean>((resolve, reject) => {
    thread.onmessage = ({ data }: MessageEvent<boolean>) => resolve(data);
    thread.onerror = ({ message }) => reject(new Error(message));
    thread.postMessage(path);
  }).finally(() => thread.terminate());
}
