import { call, part } from '../../call';
import { loadEntries } from '../../entries';
import { kinds } from '../../kind';
import { Act } from '../../part/button';
import { go } from '../../route';
import type { Item, Kind } from '../../types';

export function Remove({ kind, item }: { kind: Kind; item: Item }) {
  return (
    <Act
      needs="admin"
      tone="danger"
      sure={{
        title: `Remove ${item.id}?`,
        text: <p>Its settings are removed. Its leads and sales stay in the log and in reports.</p>,
      }}
      run={async () => {
        await call('DELETE', `config/${kind}/${part(item.id)}`, { headers: { 'If-Match': item.etag } });
        loadEntries();
        go(kinds[kind].place);
      }}
      done={`${item.id} is removed.`}
    >
      Remove
    </Act>
  );
}

export function Pause({ kind, id, paused, done }: { kind: Kind; id: string; paused: boolean; done: () => void }) {
  return (
    <Act
      needs="operator"
      tone="quiet"
      label={`${paused ? 'Resume' : 'Pause'} ${id}`}
      run={async () => {
        await call('POST', `${kind}/${part(id)}/${paused ? 'resume' : 'pause'}`);
        loadEntries();
        done();
      }}
      done={`${id} is ${paused ? 'active' : 'paused'}.`}
    >
      {paused ? 'Resume' : 'Pause'}
    </Act>
  );
}
