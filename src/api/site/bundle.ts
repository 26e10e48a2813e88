import page from '../../console/index.html';
import { type SiteFile, siteFile } from './file.ts';

/** The page: its document, and the files that it loads, by name. */
export interface Bundle {
  readonly document: SiteFile;
  readonly assets: ReadonlyMap<string, SiteFile>;
}

interface BuiltFile {
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** Where the files are served. Their names hold their hashes. */
export const ASSETS_PATH = '/console/assets';

/** Inside the one-file program the page is there, made ready; from source it is bundled when it is first asked for. */
export async function openBundle(): Promise<Bundle> {
  const files = page.files ? await embedded(page.files) : await built();
  const assets = new Map<string, SiteFile>();
  let document: SiteFile | undefined;
  for (const { name, bytes } of files) {
    const extension = name.slice(name.lastIndexOf('.') + 1);
    if (extension !== 'html') assets.set(name, siteFile(bytes, extension));
    else document = siteFile(withAssetsPath(new TextDecoder().decode(bytes)), extension);
  }
  if (!document) throw new Error('the page has no document');
  return { document, assets };
}

/** The bundler writes `./chunk.js`; scripts load each other by the same form, which holds wherever they are. */
function withAssetsPath(html: string): string {
  return html.replaceAll(/(src|href)="\.\//g, `$1="${ASSETS_PATH}/`);
}

async function embedded(files: readonly { path: string }[]): Promise<BuiltFile[]> {
  return Promise.all(
    files.map(async ({ path }) => ({ name: nameOf(path), bytes: await Bun.file(path).bytes() })),
  );
}

async function built(): Promise<BuiltFile[]> {
  const { outputs } = await Bun.build({
    entrypoints: [page.index],
    target: 'browser',
    minify: true,
    splitting: true,
    define: { 'process.env.NODE_ENV': '"production"' }, // or the chart is bundled with its checks, at twice the size
  });
  return Promise.all(
    outputs.map(async (output) => ({
      name: nameOf(output.path),
      bytes: new Uint8Array(await output.arrayBuffer()),
    })),
  );
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
