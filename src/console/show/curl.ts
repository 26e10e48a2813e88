/** The languages that people paste a request into. `snippets.ts` writes it in all of them. */
export const LANGUAGES = ['curl', 'Python', 'JavaScript', 'Spreadsheet'] as const;
export type Language = (typeof LANGUAGES)[number];

export interface SampleRequest {
  method: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
  /** The name of a file that is the body. */
  file?: string | undefined;
}

/** A GET request with an API key. */
export function getRequest(origin: string, path: string, key: string): SampleRequest {
  const url = origin + path.replaceAll('%2C', ',').replaceAll('%3A', ':');
  return { method: 'GET', url, headers: { 'x-api-key': key } };
}

/** A request as a command line. */
export function curl({ method, url, headers, body, file }: SampleRequest): string {
  const lines = Object.entries(headers).map(([name, value]) => `-H '${name}: ${value}'`);
  if (body) lines.push(`-d ${shellQuoted(body)}`);
  if (file) lines.push(`--data-binary @${file}`);
  const options = `${isStream(url) ? ' -N' : ''}${method === 'GET' ? '' : ` -X ${method}`}`;
  return [`curl${options} ${lines[0] ?? ''}`.trimEnd(), ...lines.slice(1), `'${url}'`].join(' \\\n  ');
}

export function isStream(url: string): boolean {
  return url.includes('/rates/stream');
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
