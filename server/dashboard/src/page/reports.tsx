import { useEffect, useMemo, useState } from 'preact/hooks';
import { address, call, send } from '../call';
import { amount, count, instant, millis, share, words } from '../format';
import { asFailure, type Loading, useSignedIn } from '../load';
import { Bars } from '../part/bars';
import { Act, Button } from '../part/button';
import { Chart } from '../part/chart';
import { Input, Select } from '../part/field';
import { Ids } from '../part/filters';
import { Empty, Loaded } from '../part/state';
import { Table } from '../part/table';
import { Card } from '../part/words';
import {
  byCurrency,
  byName,
  columnOf,
  dimensions,
  measures,
  monies,
  overTime,
  type Row,
  rowsOf,
  total,
} from '../report';
import type { PageOf } from '../route';
import { to } from '../route';

type Query = { [name: string]: string };

// mostRows limits the rows on the page. An export has all rows.
const mostRows = 1000;

export function ReportsPage({ query }: PageOf) {
  const asked = { by: 'day', ...query };
  const { measure = 'revenue', ...ask } = asked as Query;
  const report = useReport(ask);
  return (
    <>
      <div class="title">
        <h1 tabIndex={-1}>Reports</h1>
        <Act
          needs="operator"
          tone="quiet"
          sure={{
            title: 'Build the report anew?',
            text: <p>It is read from the log again, and lags until that is done.</p>,
          }}
          run={() => call('POST', 'report/rebuild')}
          done="The report is being built anew."
        >
          Rebuild
        </Act>
      </div>
      <Question asked={asked} />
      <Loaded of={report}>
        {(r) =>
          r.rows.length === 0 ? (
            <Empty title="Nothing happened in this time">Ask for a longer one. Test leads are in no report.</Empty>
          ) : (
            <>
              <p class="row">
                <span class="faint">
                  From {instant(r.from)} to {instant(r.to)} UTC, up to entry {r.entry}.
                </span>
                <Exports ask={ask} />
              </p>
              <Drawn rows={r.rows} measure={measure} by={ask.by ?? ''} query={asked} />
              <Rows rows={r.rows} />
            </>
          )
        }
      </Loaded>
    </>
  );
}

interface Answer {
  rows: Row[];
  from: string;
  to: string;
  entry: string;
}

function useReport(ask: Query): Loading<Answer> {
  const [state, set] = useState<Omit<Loading<Answer>, 'reload'>>({ data: undefined, failure: undefined, busy: true });
  const [turn, again] = useState(0);
  const reload = () => again((n) => n + 1);
  useSignedIn(reload);
  useEffect(() => {
    const control = new AbortController();
    set({ data: undefined, failure: undefined, busy: true });
    const load = async () => {
      const answer = await send('GET', 'report', { query: { ...ask, format: 'ndjson' }, signal: control.signal });
      const head = (name: string) => answer.headers.get(`X-Report-${name}`) ?? '';
      const rows = rowsOf(await answer.text());
      set({
        data: { rows, from: head('From'), to: head('To'), entry: head('Entry') },
        failure: undefined,
        busy: false,
      });
    };
    load().catch((problem) => {
      if (!control.signal.aborted) set({ data: undefined, failure: asFailure(problem), busy: false });
    });
    return () => control.abort();
  }, [JSON.stringify(ask), turn]);
  return { ...state, reload };
}

function Question({ asked }: { asked: Query }) {
  const [wanted, set] = useState<Query>(asked);
  useEffect(() => set(asked), [JSON.stringify(asked)]);
  const put = (name: string) => (value: string) => set({ ...wanted, [name]: value });
  const by = (wanted.by ?? '').split(',').filter(Boolean);
  return (
    <form
      class="card"
      onSubmit={(e) => {
        e.preventDefault();
        location.hash = to(['reports'], wanted);
      }}
    >
      <fieldset class="field some">
        <legend>By</legend>
        <div class="row">
          {dimensions.map((d) => (
            <label>
              <input
                type="checkbox"
                checked={by.includes(d)}
                onChange={(e) =>
                  put('by')((e.currentTarget.checked ? [...by, d] : by.filter((other) => other !== d)).join(','))
                }
              />
              {d}
            </label>
          ))}
        </div>
      </fieldset>
      <div class="row filters">
        <Input label="From" type="date" value={wanted.from ?? ''} set={put('from')} />
        <Input label="To, not included" type="date" value={wanted.to ?? ''} set={put('to')} />
        <Input label="Time zone" hint="UTC" value={wanted.zone ?? ''} set={put('zone')} />
        <Ids of="suppliers" label="Supplier" value={wanted.supplier ?? ''} set={put('supplier')} />
        <Ids of="buyers" label="Buyer" value={wanted.buyer ?? ''} set={put('buyer')} />
        <Ids of="campaigns" label="Campaign" value={wanted.campaign ?? ''} set={put('campaign')} />
        <Select
          label="Drawn"
          value={wanted.measure ?? 'revenue'}
          set={put('measure')}
          options={measures.map((m) => [m, words(m)])}
        />
      </div>
      <div class="row">
        <Button type="submit" tone="main">
          Show
        </Button>
        <span class="faint">Without a time it is the running month.</span>
      </div>
    </form>
  );
}

function Exports({ ask }: { ask: Query }) {
  return (
    <>
      {['csv', 'ndjson', 'parquet'].map((format) => (
        <a class="button" href={address('report', { ...ask, format })} download={`report.${format}`}>
          Export {format === 'parquet' ? 'Parquet' : format.toUpperCase()}
        </a>
      ))}
    </>
  );
}

// Drawn charts a measure. Each currency has its own chart, because amounts in two currencies have no sum.
function Drawn({ rows, measure, by, query }: { rows: Row[]; measure: string; by: string; query: Query }) {
  return (
    <>
      {byCurrency(rows, measure).map((part) => (
        <Measure key={part.unit} {...part} measure={measure} by={by} query={query} />
      ))}
    </>
  );
}

function Measure({
  rows,
  unit,
  measure,
  by,
  query,
}: {
  rows: Row[];
  unit?: string;
  measure: string;
  by: string;
  query: Query;
}) {
  const time = useMemo(() => overTime(rows, measure), [rows, measure]);
  const name = by.split(',').find((d) => d !== 'hour' && d !== 'day' && d !== '');
  const bars = name ? byName(rows, name, measure).slice(0, 20) : [];
  const title = unit ? `${words(measure)}, ${unit}` : words(measure);
  return (
    <Card title={title}>
      {time && time.times.length > 1 && (
        <Chart
          times={time.times}
          series={[{ name: title, color: '--line-1', values: time.values }]}
          summary={`${title} at ${time.times.length} times; the numbers are in the table below.`}
        />
      )}
      {name && (
        <Bars
          label={`${title} by ${name}`}
          of={bars.map((b) => ({
            key: b.name,
            name: b.name,
            value: Math.max(0, b.value),
            text: shown(measure, b.value, unit),
            href:
              ['supplier', 'buyer', 'campaign'].includes(name) && b.name !== 'none'
                ? to(['reports'], { ...query, [name]: b.name })
                : undefined,
          }))}
        />
      )}
      {!name && (!time || time.times.length < 2) && <p class="figure">{shown(measure, total(rows, measure), unit)}</p>}
    </Card>
  );
}

function shown(column: string, value: Row[string] | undefined, currency?: string): string {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'string') return value;
  if (monies.includes(column)) return amount(value, currency);
  if (column.endsWith('_rate')) return share(value);
  if (column.endsWith('_ms')) return millis(value);
  return count(value);
}

function Rows({ rows }: { rows: Row[] }) {
  const columns = Object.keys(rows[0] ?? {});
  const names = dimensions.map(columnOf);
  return (
    <Card title="Rows">
      {rows.length > mostRows && (
        <p class="note">
          The first {count(mostRows)} of {count(rows.length)} rows. An export has all.
        </p>
      )}
      <Table
        caption="The report’s rows"
        rows={rows.slice(0, mostRows)}
        keyOf={(_, i) => String(i)}
        columns={columns.map((column) => ({
          head: words(column.replace(/_id$/, '')),
          number: !names.includes(column) && column !== 'currency',
          of: (row: Row) =>
            column === 'hour' || column === 'day' ? (
              <When of={String(row[column])} day={column === 'day'} />
            ) : (
              shown(column, row[column])
            ),
        }))}
      />
    </Card>
  );
}

// When shows a row's time in the report's time zone.
function When({ of, day }: { of: string; day: boolean }) {
  return <time dateTime={of}>{of.slice(0, day ? 10 : 16).replace('T', ' ')}</time>;
}
