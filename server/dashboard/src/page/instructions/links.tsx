import { useState } from 'preact/hooks';
import { call, part } from '../../call';
import { instant } from '../../format';
import { Act } from '../../part/button';
import { Select } from '../../part/field';
import { Secret } from '../../part/secret';
import { useWorkspace } from '../../workspace';

const lifetimes: [string, string][] = [
  ['1d', '1 day'],
  ['7d', '7 days'],
  ['30d', '30 days'],
];

// Links makes a public link to the instructions for the supplier, and revokes all its links.
export function Links({ campaign, supplier }: { campaign: string; supplier: string }) {
  const { zone } = useWorkspace();
  const [lifetime, choose] = useState('7d');
  const [made, show] = useState<{ url: string; expires_at: string } | undefined>();
  const make = async () => {
    const path = `campaigns/${part(campaign)}/instructions/link`;
    show(await call('POST', path, { body: { supplier, expires_in: lifetime } }));
  };
  return (
    <div class="row foot">
      <Select label="The link works for" value={lifetime} set={choose} options={lifetimes} />
      <Act needs="operator" tone="main" run={make}>
        Copy link for the supplier
      </Act>
      <Act
        needs="operator"
        tone="quiet"
        sure={{
          title: 'Revoke all links of this supplier?',
          text: <p>All links for this supplier stop working.</p>,
        }}
        run={() => call('DELETE', `suppliers/${part(supplier)}/instructions/links`)}
        done="All links for this supplier have stopped working."
      >
        Revoke all links
      </Act>
      {made && (
        <Secret
          title="Link for the supplier"
          value={made.url}
          text={`Anyone with this link can read the instructions until ${instant(made.expires_at)} (${zone}).`}
          close={() => show(undefined)}
        />
      )}
    </div>
  );
}
