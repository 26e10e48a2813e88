const CODES = { green: '\x1b[32m', red: '\x1b[31m', dim: '\x1b[2m', bold: '\x1b[1m' } as const;
const RESET = '\x1b[0m';

/** Every escape sequence that colours a text. */
export const COLOUR_CODES: readonly string[] = [...Object.values(CODES), RESET];

/** Colours text for a terminal; leaves it alone elsewhere, and where `NO_COLOR` is set (https://no-color.org). */
export function colourFor(stream: { isTTY?: boolean }, environment: (name: string) => string | undefined) {
  const isOn = stream.isTTY === true && !environment('NO_COLOR') && environment('TERM') !== 'dumb';
  return (text: string, style: keyof typeof CODES): string => (isOn ? CODES[style] + text + RESET : text);
}

export type Colour = ReturnType<typeof colourFor>;
