import { outageReason } from '../../errors.ts';
import { hostUrls } from './host-urls.ts';
import { Primary } from './primary.ts';

/** Where connections go. */
export interface Server {
  readonly url: string;
  /** Searches for the server that has taken over, if there are several hosts. */
  search(): Promise<void>;
  /** Calls `onMoved` each time `url` changes. */
  watch(onMoved: () => void): void;
  close(): void;
}

/** The only host of a URL, or the primary among several. */
export async function findServer(url: string): Promise<Server> {
  const urls = hostUrls(url);
  return urls.length === 1 ? onlyServer(urls[0]!) : Primary.find(urls);
}

/** Whether a call to the server at `url` failed because another server has taken over. */
export async function hasMoved(server: Server, url: string, error: unknown): Promise<boolean> {
  if (outageReason(error) === undefined) return false;
  if (server.url === url) await server.search();
  return server.url !== url;
}

function onlyServer(url: string): Server {
  return { url, search: async () => {}, watch: () => {}, close: () => {} };
}
