/** The parts of the chart library that the page uses. Naming them leaves the others out of the bundle. */
export {
  AreaSeries,
  CandlestickSeries,
  createChart,
  createSeriesMarkers,
  LineSeries,
} from 'lightweight-charts';
