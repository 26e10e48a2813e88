/** What is written around the chart on a picture of it. */
export interface PictureText {
  title: string;
  subtitle: string;
  /** One for each line. `colour` is the name of a CSS variable. */
  lines: readonly { name: string; colour: string }[];
  footer: string;
}

const MARGIN = 20;
const HEAD = 64;
const LINE_HEAD = 22;
const FOOT = 28;

/** A picture of the chart with its title, its lines and its sources, as a PNG. */
export function pictureOf(chart: HTMLCanvasElement, text: PictureText): Promise<Blob> {
  const scale = devicePixelRatio;
  const hasLines = text.lines.length > 1;
  const top = MARGIN + HEAD + (hasLines ? LINE_HEAD : 0);
  const width = chart.width / scale + 2 * MARGIN;
  const height = chart.height / scale + top + FOOT + MARGIN;
  const canvas = document.createElement('canvas');
  canvas.width = width * scale;
  canvas.height = height * scale;
  const context = canvas.getContext('2d')!;
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const write = (words: string, x: number, y: number, font: string, fill: string) => {
    context.font = `${font} ${style.fontFamily}`;
    context.fillStyle = colour(fill);
    context.fillText(words, x, y);
  };
  context.scale(scale, scale);
  context.fillStyle = colour('--surface');
  context.fillRect(0, 0, width, height);
  write(text.title, MARGIN, MARGIN + 22, '600 22px', '--ink');
  write(text.subtitle, MARGIN, MARGIN + 46, '14px', '--muted');
  let x = MARGIN;
  for (const line of hasLines ? text.lines : []) {
    context.fillStyle = colour(line.colour);
    context.fillRect(x, MARGIN + HEAD, 14, 3);
    write(line.name, x + 20, MARGIN + HEAD + 6, '13px', '--ink');
    x += 40 + context.measureText(line.name).width;
  }
  context.drawImage(chart, MARGIN, top, chart.width / scale, chart.height / scale);
  write(text.footer, MARGIN, height - MARGIN, '12px', '--muted');
  return new Promise((resolve) => canvas.toBlob((blob) => resolve(blob!), 'image/png'));
}
