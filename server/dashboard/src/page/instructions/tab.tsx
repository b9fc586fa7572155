import { address, part } from '../../call';
import { nameOf, useEntries } from '../../entries';
import type { Instructions } from '../../instructions';
import { useLoad } from '../../load';
import { Select } from '../../part/field';
import { Empty, Loaded } from '../../part/state';
import { Card } from '../../part/words';
import { parse, to } from '../../route';
import type { Item } from '../../types';
import { InstructionsDocument } from './document';
import { Links } from './links';

// suppliersOf returns the ids of a campaign's suppliers, or null if every supplier may send to it.
const suppliersOf = (campaign: Item | undefined): string[] | null => {
  const ids = campaign?.document.suppliers;
  return Array.isArray(ids) && ids.length > 0 ? ids.map(String) : null;
};

// InstructionsTab shows the posting instructions of a campaign for one of its suppliers, or of a
// supplier for one of its campaigns. The choice is in the address.
export function InstructionsTab({ kind, id }: { kind: 'campaigns' | 'suppliers'; id: string }) {
  const entries = useEntries();
  const other = kind === 'campaigns' ? 'suppliers' : 'campaigns';
  const word = kind === 'campaigns' ? 'supplier' : 'campaign';
  const options = (entries[other] ?? []).filter((item) => {
    const allowed = suppliersOf(kind === 'suppliers' ? item : entries.campaigns?.find((c) => c.id === id));
    return !allowed || allowed.includes(kind === 'suppliers' ? id : item.id);
  });
  const wanted = parse(location.hash).query[word];
  const chosen = options.find((i) => i.id === wanted)?.id ?? options[0]?.id ?? '';
  const [campaign, supplier] = kind === 'campaigns' ? [id, chosen] : [chosen, id];
  if (!entries[other]) return null;
  if (!chosen) {
    return (
      <Empty title={`No ${word} for these instructions`}>
        <a href={to([other, '+'])}>Create a {word}</a> first.
      </Empty>
    );
  }
  return (
    <>
      <Card title="Posting instructions">
        <p>All that the supplier's engineers need to send leads. They contain no buyers, prices or secrets.</p>
        <div class="row filters">
          <Select
            label={word === 'supplier' ? 'Supplier' : 'Campaign'}
            value={chosen}
            set={(one) => location.replace(to([kind, id, 'instructions'], { [word]: one }))}
            options={options.map((i) => [i.id, nameOf(entries, other, i.id)])}
          />
        </div>
        <div class="row">
          <Downloads campaign={campaign} supplier={supplier} />
        </div>
        <Links key={`${campaign} ${supplier}`} campaign={campaign} supplier={supplier} />
      </Card>
      <Document key={`${campaign} ${supplier}`} campaign={campaign} supplier={supplier} />
    </>
  );
}

const pathOf = (campaign: string): string => `campaigns/${part(campaign)}/instructions`;

function Downloads({ campaign, supplier }: { campaign: string; supplier: string }) {
  return (
    <>
      {[
        ['md', 'Markdown'],
        ['pdf', 'PDF'],
      ].map(([format, name]) => (
        <a
          class="button"
          href={address(pathOf(campaign), { supplier, format })}
          download={`posting-instructions-${campaign}-${supplier}.${format}`}
        >
          Download {name}
        </a>
      ))}
    </>
  );
}

function Document({ campaign, supplier }: { campaign: string; supplier: string }) {
  const found = useLoad<Instructions>(pathOf(campaign), { supplier, format: 'json' });
  return (
    <Loaded of={found}>
      {(of) => (
        <>
          {!of.base_url_configured && (
            <p class="note warn">
              The address <code>{of.base_url}</code> is the one on which the exchange listens. Set{' '}
              <code>public_url</code> in the configuration to the address under which suppliers reach it.
            </p>
          )}
          {!of.sample_passes && (
            <p class="note warn">
              No sample passes this campaign's filters. The sample request below may be unsold. Check the filters of the
              campaign and of its buyers.
            </p>
          )}
          <InstructionsDocument of={of} />
        </>
      )}
    </Loaded>
  );
}
