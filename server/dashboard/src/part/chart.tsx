import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { columnCenters, columnRange, increments, moment, type Unit } from '../axis';
import { axisMoney, count, instant } from '../format';
import { color, onTheme } from '../theme';
import { workspace } from '../workspace';

export interface Series {
  name: string;
  color: string; // a custom property
  values: (number | null)[];
}

// palette has the colors of series, in order.
export const palette = ['--line-1', '--line-2', '--line-3', '--line-4', '--line-5', '--line-6'];

const height = 200;

interface Of {
  times: number[];
  series: Series[];
  summary: string;
  span?: number; // length of the axis in seconds before the last point, with or without data
  bars?: Unit; // stacked columns of this unit instead of lines
  text?: (n: number) => string; // formats a value in the tooltip
  currency?: string | undefined; // of the values, if they are money
}

// Chart draws series over time, with a tooltip at the pointer. Screen readers read summary. Each
// page with a chart has the numbers in a table too.
export function Chart({ times, series, summary, span, bars, text = count, currency }: Of) {
  const at = useRef<HTMLDivElement>(null);
  const tip = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const shown = useRef<Of>({ times, series, summary });
  shown.current = { times, series, summary, text };
  const data = dataOf(times, series, bars);
  const shape = `${bars} ${currency} ${series.map((s) => s.name).join('|')}`;
  useEffect(() => {
    const place = at.current;
    if (!place) return;
    const draw = () => {
      plot.current?.destroy();
      const hooks = { setCursor: [(u: uPlot) => point(u, tip.current, shown.current)] };
      const { times: now, series: current } = shown.current;
      const made = options(place.clientWidth, current, span, bars, currency);
      plot.current = new uPlot({ ...made, hooks }, dataOf(now, current, bars), place);
    };
    draw();
    const watch = new ResizeObserver(() => {
      if (plot.current && place.clientWidth > 0) plot.current.setSize({ width: place.clientWidth, height });
    });
    watch.observe(place);
    const forget = onTheme(draw);
    return () => {
      watch.disconnect();
      forget();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [shape]);
  useEffect(() => plot.current?.setData(data), [times, series]);
  return (
    <figure class="chart">
      <figcaption class="legend">
        {series.map((s) => (
          <span>
            <i class={`swatch ${s.color.slice(2)}`} aria-hidden="true" />
            {s.name}
          </span>
        ))}
      </figcaption>
      <div class="chart-area">
        <div ref={at} role="img" aria-label={summary} />
        <div ref={tip} class="tip" hidden aria-hidden="true" />
      </div>
    </figure>
  );
}

// dataOf returns the data for uPlot. Stacked series are sums, the highest first, so that each
// lower one is drawn over it.
function dataOf(times: number[], series: Series[], bars?: Unit): uPlot.AlignedData {
  if (!bars) return [times, ...series.map((s) => s.values)];
  const stacked: number[][] = [];
  let below = new Array<number>(times.length).fill(0);
  for (const s of series) {
    below = below.map((n, i) => n + (s.values[i] ?? 0));
    stacked.unshift(below);
  }
  return [columnCenters(times, bars), ...stacked];
}

// point shows the values at the pointer.
function point(u: uPlot, tip: HTMLElement | null, of: Of): void {
  if (!tip) return;
  const i = u.cursor.idx;
  const time = i === null || i === undefined ? undefined : of.times[i];
  tip.hidden = time === undefined || (u.cursor.left ?? -1) < 0;
  if (time === undefined || i === null || i === undefined) return;
  const lines = of.series
    .map((s) => ({ name: s.name, value: s.values[i] }))
    .filter((l) => l.value !== null && l.value !== undefined);
  tip.replaceChildren(
    ...[instant(new Date(time * 1000).toISOString()).slice(0, 16), ...lines.map((l) => line(l, of))].map((text) => {
      const p = document.createElement('p');
      p.textContent = text;
      return p;
    }),
  );
  const left = (u.cursor.left ?? 0) + u.over.offsetLeft;
  tip.style.left = `${Math.max(0, Math.min(left + 12, u.root.clientWidth - tip.offsetWidth))}px`;
}

const line = (of: { name: string; value: number | null | undefined }, chart: Of): string =>
  `${of.name}: ${(chart.text ?? count)(of.value ?? 0)}`;

function options(width: number, series: Series[], span?: number, bars?: Unit, currency?: string): uPlot.Options {
  const faint = color('--faint');
  const grid = { stroke: color('--line'), width: 1 };
  const font = '12px system-ui, sans-serif';
  const drawn = bars ? [...series].reverse() : series;
  const paths = bars && uPlot.paths.bars ? uPlot.paths.bars({ size: [0.7, 60], align: 0 }) : undefined;
  return {
    width: Math.max(width, 100),
    height,
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, y: false, points: { show: !bars } },
    padding: [8, 28, 0, 0],
    scales: {
      ...(span && { x: { range: (_: uPlot, __: number, last: number): [number, number] => [last - span, last] } }),
      ...(bars && { x: { range: (u: uPlot): [number, number] => columnRange(u.data[0], bars) } }),
      y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] },
    },
    axes: [
      {
        stroke: faint,
        grid: { ...grid, show: !bars },
        ticks: grid,
        font,
        size: 32,
        ...(bars && { incrs: increments(bars) }),
        values: (_, at, __, ___, step) => at.map((t) => moment(t, step)),
      },
      {
        stroke: faint,
        grid,
        ticks: grid,
        font,
        size: currency ? 68 : 54,
        ...(currency && { values: (_: uPlot, at: number[]) => axisMoney(at, currency) }),
      },
    ],
    series: [
      {},
      ...drawn.map((s) => ({
        label: s.name,
        stroke: color(s.color),
        width: bars ? 0 : 2,
        points: { show: false },
        ...(paths && { paths, fill: color(s.color) }),
      })),
    ],
    tzDate: (at) => uPlot.tzDate(new Date(at * 1000), workspace().zone === 'UTC' ? 'Etc/UTC' : workspace().zone),
  };
}
