import type { Day } from '../../../market/day.ts';
import { attributeOf, childrenOf, type Element } from '../xml.ts';

/** The built-in formats 14 to 17 and 22 show a date; 27 to 36 and 50 to 58 do in East Asian editions. */
function isBuiltInDate(id: number): boolean {
  return (id >= 14 && id <= 17) || id === 22 || (id >= 27 && id <= 36) || (id >= 50 && id <= 58);
}

/** The indexes of the cell styles that format a number as a date. */
export function dateStylesOf(styles: Element | undefined): ReadonlySet<number> {
  const sheet = childrenOf(styles, 'styleSheet')[0];
  const custom = new Map(
    childrenOf(childrenOf(sheet, 'numFmts')[0], 'numFmt').map((format) => [
      attributeOf(format, 'numFmtId'),
      attributeOf(format, 'formatCode') ?? '',
    ]),
  );
  const found = new Set<number>();
  for (const [number, style] of childrenOf(childrenOf(sheet, 'cellXfs')[0], 'xf').entries()) {
    const id = attributeOf(style, 'numFmtId');
    const code = custom.get(id);
    if (code === undefined ? isBuiltInDate(Number(id)) : showsDate(code)) found.add(number);
  }
  return found;
}

/** `yyyy\-mm\-dd`, `d mmm yy`. Quoted text, escaped characters, spaces (`_D`), fillers (`*D`) and `[Red]` do not count. */
function showsDate(code: string): boolean {
  const plain = code.replace(/"[^"]*"|[\\_*].|\[[^\]]*\]/g, '');
  return /y/i.test(plain) || (/d/i.test(plain) && /m/i.test(plain));
}

const UNIX_EPOCH_FROM_1900 = 25_569;
const UNIX_EPOCH_FROM_1904 = 24_107;

/** The day of a serial number: 1 is 1900-01-01, and 60 is 29 February 1900, which did not exist. */
export function dayOfSerial(serial: number, from1904: boolean): Day | undefined {
  if (!(serial >= 0 && serial < 2_958_466)) return undefined; // 9999-12-31
  const whole = Math.floor(serial);
  if (from1904) return whole - UNIX_EPOCH_FROM_1904;
  if (whole === 0 || whole === 60) return undefined;
  return whole - UNIX_EPOCH_FROM_1900 + (whole < 60 ? 1 : 0);
}
