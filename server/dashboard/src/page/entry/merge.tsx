import { useState } from 'preact/hooks';
import { differences, merge } from '../../form/document';
import { scalar } from '../../format';
import { Button } from '../../part/button';
import { Dialog } from '../../part/dialog';
import { Table } from '../../part/table';
import type { Doc, Item } from '../../types';

interface Of {
  current: Item | null; // null: the entry was removed
  mine: Doc;
  close: () => void;
  theirs: () => void;
  keep: (merged: Doc) => void;
}

// Merge shows the saved and the edited version of an entry that another operator has changed
// meanwhile. The user chooses one of the two values for each difference.
export function Merge({ current, mine, close, theirs, keep }: Of) {
  const [saved, choose] = useState<string[]>([]); // the paths with the saved value
  if (!current) return <Removed mine={mine} close={close} theirs={theirs} keep={keep} />;
  const list = differences(current.document, mine);
  const take = (path: string, yes: boolean) => choose(yes ? [...saved, path] : saved.filter((p) => p !== path));
  const choice = (path: string, of: 'saved' | 'yours', value: unknown) => (
    <label class="row">
      <input
        type="radio"
        name={path}
        checked={saved.includes(path) === (of === 'saved')}
        aria-label={`${path}: ${of}`}
        onChange={() => take(path, of === 'saved')}
      />
      <code>{scalar(value)}</code>
    </label>
  );
  return (
    <Dialog title="Another operator has changed this entry" close={close}>
      <p>It was saved after you opened it. Choose a value for each difference.</p>
      {list.length === 0 ? (
        <p>The saved version is the same as yours.</p>
      ) : (
        <Table
          caption="Both versions"
          rows={list}
          keyOf={(d) => d.path}
          columns={[
            { head: 'Field', of: (d) => <code>{d.path}</code> },
            { head: 'Saved version', of: (d) => choice(d.path, 'saved', d.before) },
            { head: 'Your version', of: (d) => choice(d.path, 'yours', d.after) },
          ]}
        />
      )}
      <div class="row end">
        <Button onClick={close}>Cancel</Button>
        <Button onClick={theirs}>Use the saved version</Button>
        <Button tone="main" onClick={() => keep(merge(current.document, mine, saved))}>
          Merge and review
        </Button>
      </div>
    </Dialog>
  );
}

function Removed({ mine, close, theirs, keep }: Omit<Of, 'current'>) {
  return (
    <Dialog title="Another operator has removed this entry" close={close}>
      <p>It was removed after you opened it. Your input is still here, and you can create the entry again with it.</p>
      <div class="row end">
        <Button onClick={close}>Cancel</Button>
        <Button onClick={theirs}>Leave it removed</Button>
        <Button tone="main" onClick={() => keep(mine)}>
          Create it again, and review
        </Button>
      </div>
    </Dialog>
  );
}
