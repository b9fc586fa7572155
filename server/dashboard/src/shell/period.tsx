import { useState } from 'preact/hooks';
import { Button } from '../part/button';
import { Input } from '../part/field';
import { choosePeriod, Presets } from '../part/presets';
import { isZone, nameOfPreset, zoneNow } from '../period';
import type { Route } from '../route';
import { applied, choose, periodOf, useWorkspace } from '../workspace';

// PeriodPicker sets the days and the time zone of all pages. It shows the days of the address, if
// the page has any.
export function PeriodPicker({ query }: { query: Route['query'] }) {
  const of = applied(useWorkspace(), query);
  const shown = periodOf(of);
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const own = of.preset === '';
  const name = own ? (shown.from === shown.to ? shown.from : `${shown.from} – ${shown.to}`) : nameOfPreset(of.preset);
  const close = (within: HTMLElement) => within.closest('details')?.removeAttribute('open');
  return (
    <details class="drop period">
      <summary class="button quiet" aria-label={`Period: ${name}, ${of.zone}`}>
        {name} <span class="faint zone">{of.zone}</span>
      </summary>
      <div class="drop-body">
        <div class="presets">
          <Presets at={of.preset} chosen={close} />
        </div>
        <form
          class="row"
          onSubmit={(e) => {
            e.preventDefault();
            choosePeriod({ preset: '', from: from || to, to: to || from });
            close(e.currentTarget);
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
