/** The same request in the languages that people paste it into. */

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
export function snippet(language: Language, origin: string, path: string, key: string): string {
  const url = origin + path.replaceAll('%2C', ',').replaceAll('%3A', ':');
  if (language === 'Spreadsheet') return spreadsheetFormula(url, key);
  return requestSnippet(language, { method: 'GET', url, headers: { 'x-api-key': key } });
}

/** A spreadsheet sends no headers, reads CSV, and waits for the end of a response. */
function spreadsheetFormula(url: string, key: string): string {
  if (isStream(url)) return 'A spreadsheet cannot follow a stream.';
  const table = url.replace(/&format=\w+/, '');
  return `=IMPORTDATA("${table}${table.includes('?') ? '&' : '?'}format=csv&apiKey=${key}")`;
}

/** Any request, in a language that can send it. */
export function requestSnippet(
  language: Exclude<Language, 'Spreadsheet'>,
  { method, url, headers, body, file }: SampleRequest,
): string {
  const isText = /format=(csv|ndjson)/.test(url);
  if (language === 'curl') {
    const lines = Object.entries(headers).map(([name, value]) => `-H '${name}: ${value}'`);
    if (body) lines.push(`-d ${shellQuoted(body)}`);
    if (file) lines.push(`--data-binary @${file}`);
    const options = `${isStream(url) ? ' -N' : ''}${method === 'GET' ? '' : ` -X ${method}`}`;
    return [`curl${options} ${lines[0] ?? ''}`.trimEnd(), ...lines.slice(1), `'${url}'`].join(' \\\n  ');
  }
  const names = Object.entries(headers)
    .map(([name, value]) => `'${name}': '${value}'`)
    .join(', ');
  if (language === 'JavaScript') {
    return [
      `const response = await fetch('${url}', {`,
      method !== 'GET' && `  method: '${method}',`,
      names && `  headers: { ${names} },`,
      body && `  body: ${quoted(body)},`,
      file && `  body: await readFile('${file}'),`,
      '});',
      isStream(url)
        ? 'for await (const text of response.body.pipeThrough(new TextDecoderStream())) console.log(text);'
        : `console.log(await response.${isText ? 'text' : 'json'}());`,
    ]
      .filter(Boolean)
      .join('\n');
  }
  return [
    'import requests',
    '',
    `response = requests.${method.toLowerCase()}(`,
    `    '${url}',`,
    names && `    headers={${names}},`,
    body && `    data=${quoted(body)},`,
    file && `    data=open('${file}', 'rb'),`,
    isStream(url) && '    stream=True,',
    ')',
    isStream(url)
      ? 'for line in response.iter_lines(chunk_size=1):\n    print(line.decode())'
      : `print(response.${isText ? 'text' : 'json()'})`,
  ]
    .filter((line) => typeof line === 'string')
    .filter((line, i) => i === 1 || line !== '')
    .join('\n');
}

function isStream(url: string): boolean {
  return url.includes('/rates/stream');
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
