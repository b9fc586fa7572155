import { useState } from 'preact/hooks';
import { Button } from '../part/button';
import { Input } from '../part/field';
import { isZone, presets, zoneNow } from '../period';
import { parse } from '../route';
import { choose, periodOf, useWorkspace } from '../workspace';

// leave removes the days from the address, so that the choice of the header applies.
function leave(): void {
  const { query } = parse(location.hash);
  if (!query.from && !query.to && !query.preset) return;
  const [path = '', text = ''] = location.hash.split('?');
  const rest = new URLSearchParams(text);
  for (const name of ['from', 'to', 'preset']) rest.delete(name);
  location.hash = `${path}${rest.size > 0 ? `?${rest}` : ''}`;
}

// PeriodPicker sets the days and the time zone of all pages.
export function PeriodPicker() {
  const of = useWorkspace();
  const shown = periodOf(of);
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const own = of.preset === '';
  const name = own ? (shown.from === shown.to ? shown.from : `${shown.from} – ${shown.to}`) : nameOf(of.preset);
  const take = (part: Parameters<typeof choose>[0]) => {
    choose(part);
    leave();
  };
  return (
    <details class="drop period">
      <summary class="button quiet" aria-label={`Period: ${name}, ${of.zone}`}>
        {name} <span class="faint zone">{of.zone}</span>
      </summary>
      <div class="drop-body">
        <div class="presets">
          {presets.map(([key, text]) => (
            <button
              type="button"
              aria-pressed={of.preset === key}
              onClick={(e) => {
                take({ preset: key, from: '', to: '' });
                e.currentTarget.closest('details')?.removeAttribute('open');
              }}
            >
              {text}
            </button>
          ))}
        </div>
        <form
          class="row"
          onSubmit={(e) => {
            e.preventDefault();
            take({ preset: '', from: from || to, to: to || from });
            e.currentTarget.closest('details')?.removeAttribute('open');
          }}
        >
          <Input label="Start date" type="date" value={from || (own ? of.from : '')} set={setFrom} />
          <Input label="End date, inclusive" type="date" value={to || (own ? of.to : '')} set={setTo} />
          <Button type="submit" tone="main" disabled={from === '' && to === ''}>
            Apply
          </Button>
        </form>
        <Zone key={of.zone} zone={of.zone} exchange={of.exchangeZone} />
      </div>
    </details>
  );
}

const nameOf = (preset: string): string => presets.find(([key]) => key === preset)?.[1] ?? 'Today';

// Zone chooses the time zone. Without a choice, the one of the exchange applies.
function Zone({ zone, exchange }: { zone: string; exchange: string }) {
  const [text, set] = useState(zone);
  const wrong = !isZone(text);
  const all = [...new Set([exchange, 'UTC', zoneNow(), 'America/New_York', 'America/Chicago', 'America/Los_Angeles'])];
  return (
    <div class="row">
      <Input
        label="Time zone"
        value={text}
        set={(v) => {
          set(v);
          if (isZone(v)) choose({ ownZone: v === exchange ? '' : v });
        }}
        list={all}
        help={zone === exchange ? 'of the exchange' : undefined}
        errors={wrong ? [{ field: 'zone', code: '', expected: 'a time zone such as America/New_York' }] : []}
      />
      {zone !== exchange && (
        <Button tone="quiet" onClick={() => choose({ ownZone: '' })}>
          Use {exchange}, as the exchange
        </Button>
      )}
    </div>
  );
}
