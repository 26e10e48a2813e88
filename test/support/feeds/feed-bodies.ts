import { strToU8, unzipSync, zipSync } from 'fflate';

/** Small, generated bodies in the formats of the providers. */

export const bytes = (text: string): Uint8Array => strToU8(text);

export function zipOf(files: Record<string, string>, level: 0 | 1 = 1): Uint8Array {
  const entries = Object.entries(files).map(([name, text]) => [name, strToU8(text)] as const);
  return zipSync(Object.fromEntries(entries), { level });
}

/** The same zip with one of its files changed, so that its content is tested and not only the checksum. */
export function rezip(zip: Uint8Array, which: number, change: (file: Uint8Array) => Uint8Array): Uint8Array {
  const files = unzipSync(zip);
  const names = Object.keys(files);
  const name = names[which % names.length]!;
  return zipSync({ ...files, [name]: change(files[name]!) }, { level: 0 });
}

type Cell = string | number | undefined;

/** A workbook as Excel writes it, with shared strings and a hidden sheet before the relevant one. */
export function workbook(name: string, rows: readonly (readonly Cell[])[]): Uint8Array {
  const strings: string[] = [];
  const cellXml = (cell: Cell, row: number, column: number): string => {
    if (cell === undefined) return '';
    const r = `${letters(column)}${row + 1}`;
    if (typeof cell === 'number') return `<c r="${r}" s="14"><v>${seventeenDigits(cell)}</v></c>`;
    strings.push(cell);
    return `<c r="${r}" t="s"><v>${strings.length - 1}</v></c>`;
  };
  const sheet = rows
    .map(
      (cells, row) => `<row r="${row + 1}">${cells.map((cell, i) => cellXml(cell, row, i)).join('')}</row>`,
    )
    .join('');
  const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
  return zipOf({
    '[Content_Types].xml': '<Types/>',
    'xl/workbook.xml': `<?xml version="1.0"?>\n<workbook ${main} xmlns:r="r"><sheets><sheet name="AFOSHEET" state="hidden" r:id="rId1"/><sheet name="${name}" r:id="rId2"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels':
      '<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Target="worksheets/sheet2.xml"/></Relationships>',
    'xl/worksheets/sheet1.xml': `<worksheet ${main}><sheetData/></worksheet>`,
    'xl/worksheets/sheet2.xml': `<worksheet ${main}><sheetData>${sheet}</sheetData></worksheet>`,
    'xl/sharedStrings.xml': `<sst ${main}>${strings.map((text) => `<si><t xml:space="preserve">${escaped(text)}</t></si>`).join('')}</sst>`,
  });
}

/** The Pink Sheet as it has been since 2024, or with the row of codes that older editions have. */
export function pinkSheet({ codes = false, teaUnit = '($/kg)' } = {}): Uint8Array {
  return workbook('Monthly Prices', [
    ['World Bank Commodity Price Data (The Pink Sheet)'],
    ['monthly prices in nominal US dollars, 1960 to present'],
    ['(monthly series are available only in nominal US dollars)'],
    ['Updated on June 02, 2026'],
    [
      undefined,
      'Crude oil, Dubai',
      'Coal, South African **',
      'Tea, Kolkata ',
      'Natural gas index',
      'Beef **',
      'Logs, Malaysian',
    ],
    [undefined, '($/bbl)', '($/mt)', teaUnit, '(2010=100)', '($/kg)', '($/cubic meter)'],
    ...(codes
      ? [[undefined, 'CRUDE_DUBAI', 'COAL_SAFRICA', 'TEA_KOLKATA', 'iNATGAS', 'BEEF', 'LOGS_MYS']]
      : []),
    ['1960M01', 1.63, '…', 1.12, '..', 0.71, 31.94],
    ['1960M02', 1.63, '…', 1.1, '..', 0.7, 31.94],
    ['2026M05', 94.67, 95.56, 3.19, 123.16, 7.95, '...'],
  ]);
}

export const ECB_XML = `<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
\t<gesmes:subject>Reference rates</gesmes:subject>
\t<gesmes:Sender><gesmes:name>European Central Bank</gesmes:name></gesmes:Sender>
\t<Cube>
\t\t<Cube time='2026-05-09'><Cube currency='USD' rate='1.1252'/><Cube currency='GBP' rate='0.84770'/></Cube>
\t\t<Cube time="2026-05-08"><Cube currency="USD" rate="1.13"/></Cube>
\t</Cube>
</gesmes:Envelope>`;

export const ECB_HISTORY = `Date,USD,JPY,BGN,
2026-04-13,1.1684,186.75,N/A,
2020-04-20,1.086,117.11,1.9558,
`;

export const ECB_DAILY = 'Date, USD, JPY, \n13 April 2026, 1.1684, 186.75, \n';

export const ECB_SDMX = `KEY,FREQ,CURRENCY,CURRENCY_DENOM,EXR_TYPE,EXR_SUFFIX,TIME_PERIOD,OBS_VALUE\r
EXR.D.HKD.EUR.SP00.A,D,HKD,EUR,SP00,A,2000-01-03,7.8624\r
EXR.D.HKD.EUR.SP00.A,D,HKD,EUR,SP00,A,2000-01-04,\r
EXR.M.HKD.EUR.SP00.A,M,HKD,EUR,SP00,A,2000-01,7.9\r
`;

export const FRED_OLD =
  'DATE,DCOILWTICO,DCOILBRENTEU\n2020-04-17,18.31,19.75\n2020-04-20,-36.98,17.36\n2020-04-21,.,9.12\n';
export const FRED_NEW = 'observation_date,DHHNGSP\n2018-01-04,6.24\n2018-01-05,\n2018-01-08,2.95';

export const fredJson = (more: object = {}): string =>
  JSON.stringify({
    units: 'lin',
    count: 3,
    offset: 0,
    limit: 100000,
    observations: [
      { realtime_start: '2024-09-18', date: '2024-07-05', value: '2.02' },
      { realtime_start: '2024-09-18', date: '2024-07-04', value: '.' },
      { realtime_start: '2024-09-18', date: '2024-07-03', value: '2.06' },
    ],
    ...more,
  });

export const fredSeries = (units: string): string =>
  JSON.stringify({ seriess: [{ id: 'DHHNGSP', frequency: 'Daily', units }] });

export const eiaJson = (response: object = {}): string =>
  JSON.stringify({
    response: {
      warnings: [{ warning: 'incomplete return', description: 'The API can only return 5000 rows' }],
      total: '3',
      dateFormat: 'YYYY-MM-DD',
      frequency: 'daily',
      data: [
        { period: '2020-04-20', series: 'RWTC', value: '-36.98', units: '$/BBL' },
        { period: '2018-01-05', series: 'RNGWHHD', value: null, units: '$/MMBTU' },
        { period: '2008-07-03', series: 'RWTC', value: 145.31, units: '$/BBL' },
      ],
      ...response,
    },
    request: { params: { api_key: 'SECRET-KEY' } },
  });

export const IMF_CSV = `DATAFLOW,COUNTRY,INDICATOR,DATA_TRANSFORMATION,FREQUENCY,TIME_PERIOD,OBS_VALUE,SCALE
IMF.RES:PCPS(9.0.0),G001,PCOPP,USD,M,2026-M08,9650.5,0
IMF.RES:PCPS(9.0.0),G001,PIORECR,USD,M,2026-M07,98.21,0
IMF.RES:PCPS(9.0.0),G001,PIORECR,USD,M,2026-08,,0
IMF.RES:PCPS(9.0.0),G001,PIORECR,IX,M,2026-M08,140.2,0
`;

export const LBMA_JSON = JSON.stringify([
  { is_cms_locked: 0, d: '1968-04-01', v: [37.7, 15.68, null] },
  { is_cms_locked: 0, d: '1968-04-02', v: [null, 15.6, null] },
  { is_cms_locked: 0, d: '2026-04-02', v: [4587.2, 3400.1, 3900.5] },
]);

export function yahooJson(meta: object = {}, quote: object = {}): string {
  return JSON.stringify({
    chart: {
      result: [
        {
          meta: {
            currency: 'USD',
            symbol: 'CL=F',
            exchangeTimezoneName: 'America/New_York',
            dataGranularity: '1d',
            regularMarketTime: 1_587_560_400,
            ...meta,
          },
          // midnight of New York on 2020-04-20, -21, -22 and a moment of 2020-04-22
          timestamp: [1_587_355_200, 1_587_441_600, 1_587_528_000, 1_587_560_400],
          indicators: {
            quote: [
              {
                open: [17.73, null, 10.5, 11],
                high: [17.85, null, 14, 14.1],
                low: [Math.fround(-40.32), null, 6.5, 6.5],
                close: [Math.fround(-37.63), null, 13.78, 13.9],
                volume: [1, null, 2, 3],
                ...quote,
              },
            ],
          },
        },
      ],
      error: null,
    },
  });
}

export const STOOQ_CSV =
  'Date,Open,High,Low,Close,Volume\r\n2020-04-17,19.5,20,17.3,18.27,123\r\n2020-04-20,17.73,17.85,-40.32,-37.63\r\n2020-04-21,1,2\r\n';

export const HTML_PAGE =
  '<!DOCTYPE html>\n<html><head><title>Just a moment</title></head><body><script>1</script></body></html>';

function letters(column: number): string {
  return column < 26
    ? String.fromCharCode(65 + column)
    : letters(Math.floor(column / 26) - 1) + letters(column % 26);
}

/** 1.12 stands in a sheet as 1.1200000000000001. */
function seventeenDigits(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toPrecision(17).replace(/0+$/, '');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
