import { useState } from 'preact/hooks';
import { call, part } from '../../call';
import { useLoad } from '../../load';
import { Act } from '../../part/button';
import { Input } from '../../part/field';
import { Empty, Loaded } from '../../part/state';
import { Card } from '../../part/words';

const words: { [name: string]: string } = {
  bearer: 'bearer token',
  api_key: 'API key',
  oauth: 'OAuth client secret',
  webhook: 'webhook secret',
};

// labelOf returns a secret's label. Names such as `secret/account` come from an adapter.
export const labelOf = (name: string): string => words[name] ?? name.replace('/', ' ');

// Secrets replaces the secrets that the exchange presents to a buyer or supplier.
export function Secrets({ title, owner, id }: { title: string; owner: 'buyer' | 'supplier'; id: string }) {
  const secrets = useLoad<{ secrets: { name: string }[] }>('secrets');
  const prefix = `${owner}/${id}/`;
  return (
    <Card title={title}>
      <Loaded of={secrets}>
        {({ secrets: all }) => {
          const own = all.filter((s) => s.name.startsWith(prefix));
          if (own.length === 0) return <Empty title="No secret">The settings of this entry use none.</Empty>;
          return own.map((s) => <Replace key={s.name} name={s.name} label={labelOf(s.name.slice(prefix.length))} />);
        }}
      </Loaded>
    </Card>
  );
}

function Replace({ name, label }: { name: string; label: string }) {
  const [value, set] = useState('');
  return (
    <div class="row foot">
      <Input label={`New ${label}`} type="password" auto="new-password" value={value} set={set} />
      <Act
        needs="admin"
        label={`Replace the ${label}`}
        disabled={value === ''}
        run={async () => {
          await call('PUT', `secrets/${name.split('/').map(part).join('/')}`, { body: { value } });
          set('');
        }}
        done={`The ${label} is replaced. The next request uses it.`}
      >
        Replace
      </Act>
    </div>
  );
}
