const CODES = { green: 32, red: 31, dim: 2, bold: 1 } as const;

/** Colours text for a terminal; leaves it alone elsewhere, and where `NO_COLOR` is set (https://no-color.org). */
export function colourFor(stream: { isTTY?: boolean }, environment: (name: string) => string | undefined) {
  const isOn = stream.isTTY === true && !environment('NO_COLOR') && environment('TERM') !== 'dumb';
  return (text: string, style: keyof typeof CODES): string =>
    isOn ? `\x1b[${CODES[style]}m${text}\x1b[0m` : text;
}

export type Colour = ReturnType<typeof colourFor>;
