import { amount, count, exact, none, share } from '../../format';
import { ratio, type Sums } from '../../report';

const empty: Sums = { currency: '', leads: 0, sales: 0, revenue: 0, payout: 0, margin: 0, returns: 0 };

interface Figure {
  name: string;
  text: string;
  title?: string;
  more: string;
  now: number | null;
  before: number | null;
  less?: boolean; // lower is better
}

// Figures shows a period's totals against the period before, for each currency.
export function Figures({ now, before }: { now: Sums[]; before: Sums[] }) {
  const all = now.length > 0 ? now : [empty];
  return (
    <>
      {all.map((s) => (
        <dl class="figures" aria-label={`Totals ${s.currency}`}>
          {figuresOf(s, before.find((b) => b.currency === s.currency) ?? empty).map((f) => (
            <div class="card">
              <dt>{f.name}</dt>
              <dd>
                <strong title={f.title}>{f.text}</strong>
                <small>
                  <Change of={f} /> {f.more}
                </small>
              </dd>
            </div>
          ))}
        </dl>
      ))}
    </>
  );
}

function figuresOf(now: Sums, before: Sums): Figure[] {
  const { currency } = now;
  const money = (name: string, value: number | null, old: number | null, more = ''): Figure => ({
    name,
    text: value === 0 && !currency ? none : amount(value, currency), // without a currency there was no sale
    title: exact(value, currency),
    more,
    now: value,
    before: old,
  });
  return [
    money('Revenue', now.revenue, before.revenue, `${count(now.sales)} sales`),
    money('Payout', now.payout, before.payout),
    money('Margin', now.margin, before.margin, share(ratio(now.margin, now.revenue))),
    {
      name: 'Sold rate',
      text: share(ratio(now.sales, now.leads)),
      more: `${count(now.leads)} leads`,
      now: ratio(now.sales, now.leads),
      before: ratio(before.sales, before.leads),
    },
    money('EPL', ratio(now.revenue, now.leads), ratio(before.revenue, before.leads), 'earnings per lead'),
  ];
}

// Change shows the difference to the period before in percent.
function Change({ of }: { of: Figure }) {
  if (of.now === null || of.before === null || of.before === 0) return null;
  const change = (of.now - of.before) / Math.abs(of.before);
  const word = Math.abs(change) < 0.0005 ? 'plain' : change > 0 ? 'good' : 'bad';
  return (
    <span class={`change ${word}`} title="against the period before">
      <span aria-hidden="true">{word === 'plain' ? '' : change > 0 ? '▲ ' : '▼ '}</span>
      <span class="unseen">{change > 0 ? 'up ' : 'down '}</span>
      {share(Math.abs(change))}
    </span>
  );
}
