import { curl, getRequest, isStream, type Language, type SampleRequest } from './curl.ts';

/** A GET request with an API key. */
export function snippet(language: Language, origin: string, path: string, key: string): string {
  const request = getRequest(origin, path, key);
  return language === 'Spreadsheet'
    ? spreadsheetFormula(request.url, key)
    : requestSnippet(language, request);
}

/**
 * A spreadsheet sends no headers, reads CSV, and waits for the end of a response. Where the decimal separator is a comma, it
 * would read 1.234 as 1234, and separates arguments by semicolons, which all others accept.
 */
function spreadsheetFormula(url: string, key: string): string {
  if (isStream(url)) return 'A spreadsheet cannot follow a stream.';
  const table = url.replace(/(?<=[?&])format=\w+&?/, '').replace(/[?&]$/, '');
  return `=IMPORTDATA("${table}${table.includes('?') ? '&' : '?'}format=csv&apiKey=${key}"; ","; "en_US")`;
}

/** Any request, in a language that can send it. */
export function requestSnippet(language: Exclude<Language, 'Spreadsheet'>, request: SampleRequest): string {
  if (language === 'curl') return curl(request);
  const { method, url, headers, body, file } = request;
  const isText = /format=(csv|ndjson)/.test(url);
  const isFile = url.includes('format=parquet'); // no text
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
        : `console.log(await response.${isFile ? 'arrayBuffer' : isText ? 'text' : 'json'}());`,
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
      : isFile
        ? "open('rates.parquet', 'wb').write(response.content)"
        : `print(response.${isText ? 'text' : 'json()'})`,
  ]
    .filter((line) => typeof line === 'string')
    .filter((line, i) => i === 1 || line !== '')
    .join('\n');
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;
}
