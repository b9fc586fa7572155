import { amount, count, share } from '../format';
import type { Cap } from '../types';

// Use is the use of a cap. Part of it may be reserved by leads in progress.
export type Use = Pick<Cap, 'unit' | 'limit' | 'used' | 'held' | 'currency'>;

// fill returns the used share of a cap, and the part of it that is reserved by leads in progress.
export function fill(cap: Use): { used: number; held: number; tone: 'good' | 'warn' | 'bad' } {
  if (cap.limit <= 0) return { used: 100, held: 0, tone: 'bad' };
  const used = Math.min(100, (cap.used / cap.limit) * 100);
  const held = Math.min(100 - used, (cap.held / cap.limit) * 100);
  const all = used + held;
  return { used, held, tone: all >= 100 ? 'bad' : all >= 80 ? 'warn' : 'good' };
}

export function Gauge({ cap, name, small }: { cap: Use; name: string; small?: boolean }) {
  const { used, held, tone } = fill(cap);
  const show = (n: number) => (cap.unit === 'money' ? amount(n, cap.currency ?? undefined) : count(n));
  const text = `${show(cap.used)} of ${show(cap.limit)}${cap.held > 0 ? `, ${show(cap.held)} reserved` : ''}`;
  return (
    <div class={`gauge-line ${small ? 'small' : ''}`}>
      <div
        class={`gauge ${tone}`}
        role="meter"
        aria-label={name}
        aria-valuemin={0}
        aria-valuemax={cap.limit}
        aria-valuenow={Math.min(cap.used + cap.held, cap.limit)}
        aria-valuetext={text}
      >
        <span class="gauge-used" style={{ width: `${used}%` }} />
        <span class="gauge-held" style={{ width: `${held}%` }} />
      </div>
      <span class="gauge-text">
        {text} <span class="faint">({share((used + held) / 100)})</span>
        {tone === 'bad' && <strong> full</strong>}
      </span>
    </div>
  );
}
