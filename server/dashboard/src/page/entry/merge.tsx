import { useState } from 'preact/hooks';
import { nameOf } from '../../form/document';
import { type Change, compareVersions, mergeVersions } from '../../form/merge';
import { scalar } from '../../format';
import { Button } from '../../part/button';
import { Dialog } from '../../part/dialog';
import { Table } from '../../part/table';
import type { Doc, Item } from '../../types';

interface Of {
  base: Doc; // the version that the form was opened with; empty for a new entry
  current: Item | null; // null: the entry was removed
  mine: Doc;
  close: () => void;
  theirs: () => void;
  keep: (merged: Doc) => void;
}

type Side = 'saved' | 'yours';

const changedBy = { other: 'Other operator', me: 'You', both: 'Both' };

// Merge shows the saved and the edited version of an entry that another operator has changed
// meanwhile. A value that only one of the two changed is selected. The user must choose between two
// changes of the same value.
export function Merge({ base, current, mine, close, theirs, keep }: Of) {
  const [chosen, choose] = useState<{ [name: string]: Side }>({});
  if (!current) return <Removed mine={mine} close={close} theirs={theirs} keep={keep} />;
  const list = compareVersions(base, current.document, mine);
  const conflicts = list.some((c) => c.by === 'both');
  const sideOf = (c: Change): Side | undefined =>
    chosen[nameOf(c.path)] ?? { other: 'saved' as const, me: 'yours' as const, both: undefined }[c.by];
  const choice = (c: Change, side: Side) => {
    const name = nameOf(c.path);
    return (
      <label class="row">
        <input
          type="radio"
          name={name}
          checked={sideOf(c) === side}
          aria-label={`${name}: ${side}`}
          onChange={() => choose({ ...chosen, [name]: side })}
        />
        <code>{scalar(side === 'saved' ? c.saved : c.mine)}</code>
      </label>
    );
  };
  return (
    <Dialog title="Another operator has changed this entry" close={close}>
      <p>
        It was saved after you opened it.
        {list.length > 0 && ' The changes of both of you are selected.'}
        {conflicts && ' Choose a value for each field that you both changed.'}
      </p>
      {list.length === 0 ? (
        <p>The saved version is the same as yours.</p>
      ) : (
        <Table
          caption="Both versions"
          rows={list}
          keyOf={(c) => nameOf(c.path)}
          columns={[
            { head: 'Field', of: (c) => <code>{nameOf(c.path)}</code> },
            { head: 'Changed by', of: (c) => changedBy[c.by] },
            { head: 'Saved version', of: (c) => choice(c, 'saved') },
            { head: 'Your version', of: (c) => choice(c, 'yours') },
          ]}
        />
      )}
      <div class="row end">
        <Button onClick={close}>Cancel</Button>
        <Button onClick={theirs}>Use the saved version</Button>
        <Button
          tone="main"
          disabled={!list.every(sideOf)}
          onClick={() =>
            keep(
              mergeVersions(
                mine,
                list.filter((c) => sideOf(c) === 'saved'),
              ),
            )
          }
        >
          Merge and review
        </Button>
      </div>
    </Dialog>
  );
}

function Removed({ mine, close, theirs, keep }: Omit<Of, 'base' | 'current'>) {
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
