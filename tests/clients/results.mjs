// Results of tools as views get them: plain ones, large ones, and ones whose names and values would like to be more
// than text.
export const EVIL = '<img src=x onerror="document.title=\'hacked\'">';
const FORMULA = '=HYPERLINK("https://evil.example";"here")';

const columns = (...pairs) => pairs.map(([name, type]) => ({ name, type }));
const text = (...texts) => texts.map((text) => ({ type: 'text', text }));

/** What dragoman_sql replies. */
export const query = {
  content: text('{}'),
  structuredContent: {
    columns: columns(['Carrier', 'VARCHAR'], ['Flights', 'HUGEINT'], ['Delay', 'DOUBLE'], ['Fare', 'DECIMAL(10,2)'], ['First day', 'DATE'],
      ['Last seen', 'TIMESTAMP'], ['carrier_id', 'INTEGER'], ['Notes', 'STRUCT(a INTEGER)']),
    rows: [
      [EVIL, '9007199254740993', 2.5, '1234567.50', '2013-01-01', '2013-12-31T10:11:00', 12345, { a: 1 }],
      [FORMULA, '9007199254740992', -10, '9.00', '2013-01-02', '2013-12-30T00:00:00', 23456, null],
      ['United, "the" airline', '12', null, '-0.25', null, '2013-12-31T23:59:00', 34567, { a: null }],
      ['', '9', 10.12345, null, '2012-12-31', null, 45678, { b: [1, 2] }],
    ],
    row_count: 4, truncated: false, total_rows: 4, execution_ms: 12,
  },
};
export const SQL = 'SELECT carrier, count(*) AS flights\nFROM flights\nGROUP BY carrier';

/** As a spreadsheet may open it: RFC 4180, and nothing that runs. */
export const QUERY_CSV = [
  'Carrier,Flights,Delay,Fare,First day,Last seen,carrier_id,Notes',
  '"<img src=x onerror=""document.title=\'hacked\'"">",9007199254740993,2.5,1234567.50,2013-01-01,2013-12-31T10:11:00,12345,"{""a"":1}"',
  '"\'=HYPERLINK(""https://evil.example"";""here"")",9007199254740992,-10,9.00,2013-01-02,2013-12-30T00:00:00,23456,',
  '"United, ""the"" airline",12,,-0.25,,2013-12-31T23:59:00,34567,"{""a"":null}"',
  '"",9,10.12345,,2012-12-31,,45678,"{""b"":[1,2]}"',
  '',
].join('\r\n');

/** As many rows as a query gives, of as many columns as nobody wants. */
export const wide = {
  content: [],
  structuredContent: {
    columns: Array.from({ length: 40 }, (_, at) => ({ name: `measure_${at}`, type: at ? 'DOUBLE' : 'VARCHAR' })),
    rows: Array.from({ length: 500 }, (_, row) => Array.from({ length: 40 }, (_, at) => (at ? (row * 37 + at * 101) % 9973 / 4 : `row ${row}`))),
    row_count: 500, truncated: true,
  },
};

const months = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
const narrative = (answer, rows, ...lines) => `${answer}\n\n${rows}\n\n${lines.join('  \n')}`;

function answer(said, table, ...charts) {
  return {
    content: text(said),
    structuredContent: {
      conversationId: '0', traceId: '0', outcome: 'answer', verified: true, narrative: said,
      chartSpecs: { _type: 'chart_specs', charts },
      dataLineage: { _type: 'data_lineage', datasets: [], sql: 'SELECT f.carrier, COUNT(*) AS n\nFROM flights AS f\nGROUP BY 1' },
      table,
    },
  };
}

export const ranking = answer(
  narrative('**United Air Lines Inc\\.** has the highest number of flights: **58,665** (of 6 rows).',
    '| Carrier | Flights |\n| --- | ---: |\n| United | 58,665 |',
    '_Read as: number of flights by carrier in 2013, highest first._', 'Assumed: flights that were cancelled count',
    '⚠️ 8,255 of 336,776 flights have no departure time, and count\\.'),
  {
    columns: columns(['Carrier', 'VARCHAR'], ['Number of flights', 'BIGINT']),
    rows: [['United Air Lines Inc.', 58665], ['JetBlue Airways', 54635], ['ExpressJet Airlines Inc.', 54173], ['Delta Air Lines Inc.', 48110],
      [EVIL, 32729], ['Mesa Airlines Inc.', null]],
    rowCount: 6, truncated: false,
  },
  {
    type: 'bar', title: 'Number of flights by carrier', xAxisLabel: 'Carrier', yAxisLabel: 'Number of flights', layout: 'horizontal',
    categories: ['United Air Lines Inc.', 'JetBlue Airways', 'ExpressJet Airlines Inc.', 'Delta Air Lines Inc.', EVIL, 'Mesa Airlines Inc.'],
    series: [{ label: 'Number of flights', data: [58665, 54635, 54173, 48110, 32729, null] }],
  },
);

const wave = (base, size, shift) => months.map((_, at) => Math.round(base + size * Math.sin(((at + shift) / 12) * 2 * Math.PI)));

export const seasons = answer(
  narrative('**Flights**: 27,004 in January, 28,135 in December; highest in **July** with 29,425.', '| a |\n| --- |',
    '_Read as: number of flights by month and origin in 2013._'),
  {
    columns: columns(['Month', 'DATE'], ['Origin', 'VARCHAR'], ['Flights', 'BIGINT']),
    rows: months.flatMap((_, at) => [[`2013-${String(at + 1).padStart(2, '0')}-01`, 'EWR', wave(9800, 700, 9)[at]]]),
    rowCount: 12, truncated: false,
  },
  {
    type: 'line', title: 'Flights by month', xAxisLabel: 'Month', yAxisLabel: 'Flights', categories: months.map((name) => `${name.slice(0, 3)} 2013`),
    series: [{ label: 'Newark', data: wave(9800, 700, 9) }, { label: 'Kennedy', data: wave(9100, 900, 8) }, { label: 'La Guardia', data: wave(8700, 300, 3).map((value, at) => (at === 4 ? null : value)) }],
  },
);

export const three = answer(
  narrative('**Economy** brings the most revenue: **€ 1\\.2 million** (of 4 rows).', '| a |\n| --- |', '_Read as: revenue by cabin._'),
  { columns: columns(['Cabin', 'VARCHAR'], ['Revenue', 'DOUBLE']), rows: [['Economy', 1204000.5], ['Business', 803200.25]], rowCount: 2, truncated: false },
  {
    type: 'pie', title: 'Share of revenue by cabin',
    slices: [{ label: 'Economy', value: 48.2 }, { label: 'Business', value: 32.1 }, { label: 'First', value: 14.4 }, { label: 'Other', value: 5.3 }],
  },
  {
    type: 'bar', title: 'Revenue by quarter, this year and last', xAxisLabel: 'Quarter', yAxisLabel: 'Revenue (€)', layout: 'vertical',
    categories: ['Q1', 'Q2', 'Q3', 'Q4'], series: [{ label: '2023', data: [410000, 455000, 530000, -62000] }, { label: '2022', data: [380000, 402000, 498000, 377000] }],
  },
  {
    type: 'scatter', title: 'Distance and delay', xAxisLabel: 'Distance (mi)', yAxisLabel: 'Average delay (min)',
    points: Array.from({ length: 16 }, (_, at) => ({ x: 180 + at * 151 % 2400, y: ((at * 37) % 23) - 4.5, label: `Carrier ${String.fromCharCode(65 + at)}` })),
  },
  { type: 'pie', title: 'A fourth is too many', slices: [{ label: 'all', value: 1 }] },
);

/** Upright bars with a name for each, a single line, a great many points: what the others do not show. */
export const shapes = answer(
  narrative('**3 rows.**', '| a |\n| --- |', '_Read as: this and that._'), undefined,
  {
    type: 'bar', title: 'Flights by weekday', xAxisLabel: 'Weekday', yAxisLabel: 'Flights', layout: 'vertical',
    categories: ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'],
    series: [{ label: 'Flights', data: [50690, 50422, 50060, 50219, 50308, 38720, 46357] }],
  },
  {
    type: 'line', title: 'Flights by day', xAxisLabel: 'Day', yAxisLabel: 'Flights',
    categories: Array.from({ length: 365 }, (_, at) => new Date(Date.UTC(2013, 0, 1 + at)).toISOString().slice(0, 10)),
    series: [{ label: 'Flights', data: Array.from({ length: 365 }, (_, at) => 920 + Math.round(60 * Math.sin(at / 58)) - (at % 7 === 5 ? 190 : 0)) }],
  },
  {
    type: 'scatter', title: 'Distance and air time', xAxisLabel: 'Distance (mi)', yAxisLabel: 'Air time (min)',
    points: Array.from({ length: 3000 }, (_, at) => ({ x: (at * 7919) % 2500, y: ((at * 7919) % 2500) / 8 + ((at * 104729) % 61) })),
  },
);

export const questions = {
  content: text('{}'),
  structuredContent: { conversationId: '0', clarificationRequest: { questions: [
    { question: 'Which <b>date</b> counts?', suggestions: ['Order date', 'Shipment date'], assumption: 'Order date' },
    { question: 'Revenue with or without tax?', suggestions: ['with', 'without'], assumption: 'without' }] } },
};

export const failure = {
  isError: true, content: text(JSON.stringify({ error: { code: 'forbidden_sql', message: 'There is no table fligths. Did you mean flights?' }, request_id: 'r' })),
};
