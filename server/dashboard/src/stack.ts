import { useMemo } from 'preact/hooks';
import type { Unit } from './axis';
import { days, limitsOf, type Period } from './period';
import { filled, type Row, type Stack, stackOf } from './report';
import { useWorkspace } from './workspace';

// unitOf returns the unit of time by which a period is drawn.
export const unitOf = (period: Period): Unit => (days(period) <= 2 ? 'hour' : 'day');

// useStack adds up a measure by time and name, over the whole period.
export function useStack(rows: Row[], dimension: string, measure: string, most: number, period: Period): Stack {
  const { zone } = useWorkspace();
  return useMemo(() => {
    const stack = stackOf(rows, dimension, measure, most);
    if (unitOf(period) === 'day') return stack;
    const { from, to } = limitsOf(period, zone);
    return filled(stack, Date.parse(from) / 1000, Math.min(Date.parse(to), Date.now()) / 1000, 3600);
  }, [rows, dimension, measure, period.from, period.to, zone]);
}
