import { useState } from 'preact/hooks';
import { kinds } from '../../kind';
import { Input, Select } from '../../part/field';
import { Card } from '../../part/words';
import type { Kind } from '../../types';
import { Changes } from '../entry/changes';

// HistoryTab lists the changes of the configuration, of all entries or of one.
export function HistoryTab() {
  const [kind, choose] = useState('');
  const [id, find] = useState('');
  return (
    <Card title="Configuration changes, newest first">
      <div class="row filters">
        <Select
          label="Kind"
          value={kind}
          set={choose}
          any="All"
          options={Object.values(kinds).map((k) => [k.kind, k.many])}
        />
        <Input label="Id" value={id} set={find} disabled={kind === ''} />
      </div>
      <Changes kind={kind as Kind | ''} id={kind ? id.trim() : ''} />
    </Card>
  );
}
