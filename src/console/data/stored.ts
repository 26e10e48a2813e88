/** Lists of words that stay in this browser. */

export function readStored(name: string): string[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(`openpit.${name}`) ?? '[]');
    return Array.isArray(found) ? found.filter((one) => typeof one === 'string') : [];
  } catch {
    return []; // something else wrote there
  }
}

export function writeStored(name: string, words: readonly string[]): void {
  localStorage.setItem(`openpit.${name}`, JSON.stringify(words));
}
