// The time axis of charts.

import { instant } from './format';

export type Unit = 'hour' | 'day';

const hour = 3600;
const seconds = { hour, day: 24 * hour };

// columnCenters returns the positions of columns. A column of an hour follows the tick of its start, and
// a column of a day has its tick in the middle.
export function columnCenters(times: number[], unit: Unit): number[] {
  return unit === 'hour' ? times.map((t) => t + hour / 2) : times;
}

// columnRange returns the ends of the axis. The first and the last column end there.
export function columnRange(centers: ArrayLike<number>, unit: Unit): [number, number] {
  const first = centers[0] ?? 0;
  const half = seconds[unit] / 2;
  return [first - half, (centers[centers.length - 1] ?? first) + half];
}

// increments returns the distances that ticks can have. None is shorter than a column.
export function increments(unit: Unit): number[] {
  const hours = [1, 2, 3, 4, 6, 8, 12];
  const days = [1, 2, 3, 5, 7, 10, 15, 30, 60, 90, 180, 365].map((n) => 24 * n);
  return [...(unit === 'hour' ? hours : []), ...days].map((n) => n * hour);
}

// moment formats a tick's time, with the precision of the ticks.
export function moment(at: number, step: number): string {
  const text = instant(new Date(at * 1000).toISOString());
  if (step >= seconds.day) return text.slice(5, 10);
  return text.slice(11, step >= 60 ? 16 : 19);
}
