/** The same request in the languages that people paste it into. */

export const LANGUAGES = ['curl', 'Python', 'JavaScript', 'Spreadsheet'] as const;
export type Language = (typeof LANGUAGES)[number];

export function snippet(language: Language, origin: string, path: string, key: string): string {
  const url = origin + path.replaceAll('%2C', ',');
  if (language === 'curl') return `curl -H 'x-api-key: ${key}' \\\n  '${url}'`;
  // A spreadsheet sends no headers, and reads CSV.
  if (language === 'Spreadsheet') return `=IMPORTDATA("${url}&format=csv&apiKey=${key}")`;
  if (language === 'JavaScript') {
    return [
      `const response = await fetch('${url}', {`,
      `  headers: { 'x-api-key': '${key}' },`,
      '});',
      'const { rates } = await response.json();',
    ].join('\n');
  }
  return [
    'import requests',
    '',
    'response = requests.get(',
    `    '${url}',`,
    `    headers={'x-api-key': '${key}'},`,
    ')',
    "rates = response.json()['rates']",
  ].join('\n');
}

/** A masked key, for display. */
export function masked(key: string): string {
  return key.length > 16 ? `${key.slice(0, 9)}…${key.slice(-4)}` : key;
}
