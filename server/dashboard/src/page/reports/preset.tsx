import { useMemo } from 'preact/hooks';
import { nameOf, useEntries } from '../../entries';
import { amount } from '../../format';
import { useReport } from '../../load-report';
import { Chart, palette } from '../../part/chart';
import { Exports } from '../../part/export';
import { type FilterOf, Filters } from '../../part/filters';
import { Empty, Loaded } from '../../part/state';
import { Table } from '../../part/table';
import { Card } from '../../part/words';
import { limitsOf, type Period } from '../../period';
import { type Row, sumsOf } from '../../report';
import { unitOf, useStack } from '../../stack';
import { periodOf, useWorkspace } from '../../workspace';
import { buyerColumns, moneyColumns } from './columns';
import { SaveReport } from './save';

const filters: FilterOf[] = [
  { name: 'campaign', label: 'Campaign', ids: 'campaigns' },
  { name: 'buyer', label: 'Buyer', ids: 'buyers' },
  { name: 'supplier', label: 'Supplier', ids: 'suppliers' },
  { name: 'source', label: 'Source' },
];

type Preset = 'revenue' | 'buyers' | 'sources';

// PresetTab is a report with fixed columns for the period of the header: money first, totals at
// the end.
export function PresetTab({ preset, query }: { preset: Preset; query: { [name: string]: string } }) {
  const space = useWorkspace();
  const period = periodOf(space, query);
  const unit = unitOf(period);
  const by = preset === 'buyers' ? 'buyer' : preset === 'sources' ? 'supplier,source' : unit;
  const { preset: _, ...rest } = query;
  const ask = { ...rest, from: period.from, to: limitsOf(period, space.zone).to, zone: space.zone };
  const report = useReport({ ...ask, by });
  const chart = useReport(
    preset === 'revenue' ? null : { ...ask, by: `${unit},${preset === 'buyers' ? 'buyer' : 'source'}` },
  );
  return (
    <>
      <Filters of={filters} query={query} place={['reports', preset]} />
      <Loaded of={report}>
        {({ rows }) =>
          rows.length === 0 ? (
            <Empty title="No lead in this period">
              Choose a longer period at the top. Reports never contain test leads.
              <SaveReport asked={{ ...ask, by }} preset={query.preset} />
            </Empty>
          ) : (
            <>
              <Drawn rows={preset === 'revenue' ? rows : (chart.data?.rows ?? [])} preset={preset} period={period} />
              <Rows
                rows={rows}
                preset={preset}
                unit={unit}
                exports={
                  <>
                    <SaveReport asked={{ ...ask, by }} preset={query.preset} />
                    <Exports path="report" query={{ ...ask, by }} />
                  </>
                }
              />
            </>
          )
        }
      </Loaded>
    </>
  );
}

function Drawn({ rows, preset, period }: { rows: Row[]; preset: Preset; period: Period }) {
  const unit = unitOf(period);
  const entries = useEntries();
  const currency = sumsOf(rows)[0]?.currency ?? '';
  const own = useMemo(() => {
    const all = rows.filter((r) => String(r.currency ?? '') === currency);
    if (preset !== 'revenue') return all;
    return ['payout', 'margin'].flatMap((kind) => all.map((r) => ({ ...r, kind, revenue: r[kind] ?? 0 })));
  }, [rows, preset]);
  const dimension = preset === 'revenue' ? 'kind' : preset === 'buyers' ? 'buyer' : 'source';
  const stack = useStack(own, dimension, 'revenue', 5, period);
  if (stack.series.length === 0) return null;
  const title =
    preset === 'revenue' ? 'Revenue: payout and margin' : `Revenue by ${preset === 'buyers' ? 'buyer' : 'source'}`;
  return (
    <Card title={`${title}${currency ? `, ${currency}` : ''}`}>
      <Chart
        bars={unit}
        times={stack.times}
        series={stack.series.map((s, i) => ({
          name: preset === 'buyers' ? nameOf(entries, 'buyers', s.name) : s.name,
          color: palette[i] ?? '--line-6',
          values: s.values,
        }))}
        text={(n) => amount(n, currency)}
        currency={currency}
        summary={`${title} by ${unit}; the table has the numbers.`}
      />
    </Card>
  );
}

function Rows({
  rows,
  preset,
  unit,
  exports,
}: {
  rows: Row[];
  preset: Preset;
  unit: string;
  exports: preact.ComponentChildren;
}) {
  const entries = useEntries();
  // Several currencies have no common total: each has a table of its own.
  const currencies = sumsOf(rows).map((s) => s.currency);
  const all = currencies.length > 0 ? currencies : [''];
  return (
    <>
      {all.map((currency, i) => {
        const own = rows
          .filter((r) => String(r.currency ?? '') === currency || (i === 0 && !r.currency))
          .filter((r) => preset !== 'buyers' || r.buyer_id);
        if (preset !== 'revenue') own.sort((a, b) => Number(b.revenue ?? 0) - Number(a.revenue ?? 0));
        const columns =
          preset === 'buyers'
            ? buyerColumns(own, currency, (id) => nameOf(entries, 'buyers', id))
            : moneyColumns(own, currency, preset, unit);
        return (
          <Card title={currency ? `Figures, ${currency}` : 'Figures'}>
            <Table
              caption={`Figures ${currency}`}
              name={`report-${preset}`}
              rows={own}
              keyOf={(_, n) => String(n)}
              columns={columns}
              side={i === 0 && exports}
              most={preset === 'sources' ? 2 : 3}
            />
          </Card>
        );
      })}
    </>
  );
}
