import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { color, onTheme } from '../theme';

export interface Series {
  name: string;
  color: string; // a custom property
  values: (number | null)[];
}

const height = 200;

// Chart draws series over time. Screen readers read summary. Each page with a chart has the
// numbers in a table too.
export function Chart({
  times,
  series,
  summary,
  span,
}: {
  times: number[];
  series: Series[];
  summary: string;
  span?: number; // length of the axis in seconds before the last point, with or without data
}) {
  const at = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const data: uPlot.AlignedData = [times, ...series.map((s) => s.values)];
  const shape = series.map((s) => s.name).join('|');
  useEffect(() => {
    const place = at.current;
    if (!place) return;
    const draw = () => {
      plot.current?.destroy();
      plot.current = new uPlot(options(place.clientWidth, series, span), data, place);
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
      <div ref={at} role="img" aria-label={summary} />
    </figure>
  );
}

function options(width: number, series: Series[], span?: number): uPlot.Options {
  const faint = color('--faint');
  const grid = { stroke: color('--line'), width: 1 };
  const font = '12px system-ui, sans-serif';
  return {
    width: Math.max(width, 100),
    height,
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, y: false },
    padding: [8, 28, 0, 0],
    scales: {
      ...(span && { x: { range: (_: uPlot, __: number, last: number): [number, number] => [last - span, last] } }),
      y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] },
    },
    axes: [
      {
        stroke: faint,
        grid,
        ticks: grid,
        font,
        size: 32,
        values: (_, at, __, ___, step) => at.map((t) => moment(t, step)),
      },
      { stroke: faint, grid, ticks: grid, font, size: 54 },
    ],
    series: [{}, ...series.map((s) => ({ label: s.name, stroke: color(s.color), width: 2, points: { show: false } }))],
    tzDate: (at) => uPlot.tzDate(new Date(at * 1000), 'Etc/UTC'),
  };
}

// moment formats a tick's time in UTC, with the precision of the ticks.
export function moment(at: number, step: number): string {
  const text = new Date(at * 1000).toISOString();
  if (step >= 86_400) return text.slice(5, 10);
  return text.slice(11, step >= 60 ? 16 : 19);
}
