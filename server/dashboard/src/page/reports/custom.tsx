import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Query as ApiQuery } from '../../call';
import type { EntryKind } from '../../entries';
import { about, amount, count, dayRange, none, share, words } from '../../format';
import { useReport } from '../../load-report';
import { Bars } from '../../part/bars';
import { Button } from '../../part/button';
import { Chart } from '../../part/chart';
import { Exports } from '../../part/export';
import { Select } from '../../part/field';
import { Ids } from '../../part/filters';
import { Empty, Loaded } from '../../part/state';
import { Table } from '../../part/table';
import { Card, Ref } from '../../part/words';
import { limitsOf } from '../../period';
import {
  applies,
  byCurrency,
  byName,
  columnOf,
  dimensions,
  filled,
  measured,
  measures,
  monies,
  overTime,
  type Row,
  total,
} from '../../report';
import { to } from '../../route';
import { periods } from '../../saved';
import { periodOf, useWorkspace } from '../../workspace';
import { When } from './columns';
import { SaveReport } from './save';

type Query = { [name: string]: string };

// mostRows limits the rows on the page. An export has all rows.
const mostRows = 1000;

// CustomTab is a report by any dimensions, with all columns.
export function CustomTab({ query }: { query: Query }) {
  const space = useWorkspace();
  const asked = { by: 'day', ...query };
  const { measure = 'revenue', preset: _, ...rest } = asked as Query;
  const days = periodOf(space, query);
  const limits = rest.period ? { from: '', to: '' } : { from: days.from, to: limitsOf(days, space.zone).to };
  const ask: ApiQuery = { ...rest, ...limits, zone: query.zone || space.zone };
  // The column row tells the totals from other rows.
  const report = useReport({ ...ask, columns: rest.columns && `row,${rest.columns}`, totals: true });
  return (
    <>
      <Question asked={asked} />
      <Loaded of={report}>
        {({ rows, ...r }) =>
          ordinary(rows).length === 0 ? (
            <Empty title="No lead in this period" action={<SaveReport asked={ask} preset={query.preset} />}>
              Choose a longer period. Reports never contain test leads.
            </Empty>
          ) : (
            <>
              <p class="row">
                <span class="faint">{dayRange(r.from, r.to)}.</span>
              </p>
              <Drawn rows={ordinary(rows)} measure={measure} by={rest.by ?? ''} query={asked} limits={r} />
              <Rows
                rows={ordinary(rows)}
                measure={measure}
                totals={rows.filter((row) => row.row === 'total')}
                ask={ask}
                preset={query.preset}
              />
            </>
          )
        }
      </Loaded>
    </>
  );
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
        location.hash = to(['reports', 'custom'], wanted);
      }}
    >
      <fieldset class="field some">
        <legend>Group by</legend>
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
        <Ids of="suppliers" label="Supplier" value={wanted.supplier ?? ''} set={put('supplier')} />
        <Ids of="buyers" label="Buyer" value={wanted.buyer ?? ''} set={put('buyer')} />
        <Ids of="campaigns" label="Campaign" value={wanted.campaign ?? ''} set={put('campaign')} />
        <Select label="Period" value={wanted.period ?? ''} set={put('period')} any="As at the top" options={periods} />
        <Select
          label="Chart"
          value={wanted.measure ?? 'revenue'}
          set={put('measure')}
          options={measures.map((m) => [m, headOf(m)])}
        />
      </div>
      <div class="row">
        <Button type="submit" tone="main">
          Show
        </Button>
      </div>
    </form>
  );
}

interface Drawing {
  rows: Row[];
  measure: string;
  by: string;
  query: Query;
  limits: { from: string; to: string };
}

// Drawn charts a measure. Each currency has its own chart, because amounts in two currencies have no sum.
function Drawn({ rows, ...of }: Drawing) {
  return (
    <>
      {byCurrency(rows, of.measure).map((part) => (
        <Measure key={part.unit} {...part} {...of} />
      ))}
    </>
  );
}

function Measure({ rows, unit, measure, by, query, limits }: Drawing & { unit?: string }) {
  const isRate = measure.endsWith('_rate') || measure.endsWith('_ms');
  const time = useMemo(() => {
    const of = overTime(rows, measure);
    return of && !isRate && by.includes('hour') ? everyHour(of, limits) : of;
  }, [rows, measure]);
  const name = by.split(',').find((d) => d !== 'hour' && d !== 'day' && d !== '');
  const own = rows.filter((row) => applies(row, measure) && !(isRate && measured(row, measure) === null));
  const bars = name ? byName(own, name, measure).slice(0, 20) : [];
  const title = unit ? `${headOf(measure)}, ${unit}` : headOf(measure);
  return (
    <Card title={title}>
      {time && time.times.length > 1 && (
        <Chart
          bars={isRate ? undefined : by.includes('hour') ? 'hour' : 'day'}
          text={(n) => shown(measure, n, unit)}
          currency={unit}
          times={time.times}
          series={[{ name: title, color: '--line-1', values: time.values }]}
          summary={`${title} at ${time.times.length} times; the numbers are in the table below.`}
        />
      )}
      {name && (
        <Bars
          label={`${title} by ${name}`}
          kind={kindOf(name)}
          of={bars.map((b) => ({
            key: b.name,
            name: b.name,
            value: Math.max(0, b.value),
            text: shown(measure, b.value, unit),
            href:
              ['supplier', 'buyer', 'campaign'].includes(name) && b.name !== 'none'
                ? to(['reports', 'custom'], { ...query, [name]: b.name })
                : undefined,
          }))}
        />
      )}
      {!name && (!time || time.times.length < 2) && <p class="figure">{shown(measure, total(rows, measure), unit)}</p>}
    </Card>
  );
}

// everyHour adds the hours of the report that have no row.
function everyHour(
  { times, values }: { times: number[]; values: (number | null)[] },
  { from, to: end }: Drawing['limits'],
) {
  const until = Math.min(Date.parse(end), Date.now()) / 1000;
  const all = filled(
    { times, series: [{ name: '', values: values.map(Number) }] },
    Date.parse(from) / 1000,
    until,
    3600,
  );
  return { times: all.times, values: all.series[0]?.values ?? [] };
}

function kindOf(dimension: string): EntryKind | undefined {
  return ['supplier', 'buyer', 'campaign'].includes(dimension) ? (`${dimension}s` as EntryKind) : undefined;
}

function shown(column: string, value: Row[string] | undefined, currency?: string): string {
  if (value === null || value === undefined) return none;
  if (typeof value === 'string') return value;
  if (monies.includes(column)) return value === 0 && !currency ? none : amount(value, currency);
  if (column.endsWith('_rate')) return share(value);
  if (column.endsWith('_ms')) return about(value);
  return count(value);
}

// ordinary returns the rows without the totals, which come last.
const ordinary = (rows: Row[]): Row[] => rows.filter((row) => row.row !== 'total');

// heads are the columns that the console calls by another name than the API.
const heads: { [column: string]: string } = {
  auctions: 'Auctions for pings', // an auction for a lead is not counted
  credit: 'Buyer credit',
  reversal: 'Payout reversal',
  unmatched: 'Unsold',
  wins: 'Top bids',
  win_rate: 'Top bid rate',
};

function headOf(column: string): string {
  const name = words(column.replace(/_id$/, ''));
  return heads[column] ?? name.slice(0, 1).toUpperCase() + name.slice(1);
}

interface ListOf {
  rows: Row[];
  totals: Row[];
  measure: string; // of the chart
  ask: ApiQuery;
  preset?: string;
}

// onPhone are the measures in the second line of a row on a phone.
const onPhone = ['revenue', 'margin', 'sales'];

function Rows({ rows, totals, measure, ask, preset }: ListOf) {
  const columns = columnsOf(rows);
  const currencies = new Set(rows.map((r) => r.currency).filter(Boolean));
  const isShown = (column: string) => column !== 'currency' || currencies.size > 1; // else the title has it
  const names = dimensions.map(columnOf);
  return (
    <Card title={currencies.size === 1 ? `Rows, ${[...currencies][0]}` : 'Rows'}>
      {rows.length > mostRows && (
        <p class="note">
          The first {count(mostRows)} of {count(rows.length)} rows. An export has all.
        </p>
      )}
      <Table
        caption="Rows of the report"
        name="report-custom"
        rows={rows.slice(0, mostRows)}
        keyOf={(_, i) => String(i)}
        columns={columns.filter(isShown).map((column) => ({
          head: headOf(column),
          number: !names.includes(column) && column !== 'currency',
          phone: column === measure ? 'side' : onPhone.includes(column) || names.includes(column) ? undefined : 'none',
          sort: (row: Row) => (applies(row, column) ? measured(row, column) : null),
          of: (row: Row) => cell(column, row),
          total: names.includes(column) || column === 'currency' ? undefined : totalOf(totals, column),
        }))}
        most={3}
        side={(shown) => {
          const picked = columns.filter((c) => !isShown(c) || shown.includes(headOf(c))).join(',');
          const isPicked = Boolean(ask.columns) || shown.length < columns.filter(isShown).length;
          return (
            <>
              <SaveReport asked={{ ...ask, columns: isPicked ? picked : '' }} preset={preset} />
              <Exports path="report" query={{ ...ask, columns: picked }} />
            </>
          );
        }}
      />
    </Card>
  );
}

// totalOf shows the exchange's own totals, one for each currency.
function totalOf(totals: Row[], column: string): string {
  const all = totals.filter((t) => !monies.includes(column) || t.currency);
  return all.map((t) => shown(column, measured(t, column), String(t.currency ?? ''))).join(' + ');
}

// columnsOf returns the columns: dimensions, then money, then all others.
function columnsOf(rows: Row[]): string[] {
  const all = Object.keys(rows[0] ?? {}).filter((column) => column !== 'row');
  const first = all.filter((c) => c === 'currency' || dimensions.map(columnOf).includes(c));
  const money = monies.filter((c) => all.includes(c));
  return [...first, ...money, ...all.filter((c) => !first.includes(c) && !money.includes(c))];
}

function cell(column: string, row: Row) {
  if (column === 'hour' || column === 'day') return <When of={String(row[column])} day={column === 'day'} />;
  if (dimensions.map(columnOf).includes(column) && !row[column]) return <span class="faint">none</span>;
  if (!applies(row, column)) return <span class="faint">{none}</span>;
  const kind = column.endsWith('_id') ? kindOf(column.slice(0, -3)) : undefined;
  if (kind) return <Ref of={kind} id={String(row[column] ?? '')} />;
  return shown(column, measured(row, column), String(row.currency ?? ''));
}
