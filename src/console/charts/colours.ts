/** The colours of the symbols and of the averages on a chart, as CSS variables. The symbol of the page comes first. */
export const LINE_COLOURS = [
  '--accent',
  '--series-1',
  '--series-2',
  '--series-3',
  '--series-4',
  '--series-5',
];
export const AVERAGE_COLOURS = ['--average-1', '--average-2', '--average-3', '--average-4', '--average-5'];
