import { count } from '../../format';
import { fresh } from '../../kind';
import { useLoad } from '../../load';
import { Empty, Loaded } from '../../part/state';
import { Table } from '../../part/table';
import { Card, Ref, Time } from '../../part/words';
import { to } from '../../route';
import { useDenied } from '../../session';
import type { Item, SuppressionList } from '../../types';

// ListsTab lists the suppression lists with their contents.
export function ListsTab() {
  const items = useLoad<{ items: Item[] }>('config/suppression_lists');
  const lists = useLoad<{ lists: SuppressionList[] }>('suppression');
  const contents = (id: string) => lists.data?.lists.find((l) => l.id === id);
  const denied = useDenied('admin');
  const make = (
    <a class="button main" href={to(['compliance', 'suppression', fresh])}>
      New suppression list
    </a>
  );
  return (
    <Card title="Suppression lists" side={denied ? <span class="faint">{denied}</span> : make}>
      <Loaded of={items}>
        {({ items: all }) =>
          all.length === 0 ? (
            <Empty title="No suppression lists yet">
              People on a list are not sold. Create a list, upload phone numbers or emails, and choose it in a campaign
              or a buyer.
            </Empty>
          ) : (
            <Table
              caption="Suppression lists"
              rows={all}
              keyOf={(l) => l.id}
              columns={[
                { head: 'List', of: (l) => <Ref of="suppression" id={l.id} />, sort: (l) => l.id },
                { head: 'Field', of: (l) => String(l.document.field ?? '') },
                { head: 'Form', of: (l) => String(l.document.hash ?? 'plain') },
                {
                  head: 'Entries',
                  number: true,
                  phone: 'side',
                  of: (l) => count(contents(l.id)?.entries ?? 0),
                  sort: (l) => contents(l.id)?.entries ?? 0,
                },
                { head: 'Loaded', of: (l) => <Time at={contents(l.id)?.loaded_at} /> },
                { head: 'Loaded from', of: (l) => contents(l.id)?.source ?? <span class="faint">–</span> },
                { head: 'Managed by', of: (l) => (l.owner === 'file' ? (l.file ?? 'the file') : 'console') },
              ]}
            />
          )
        }
      </Loaded>
    </Card>
  );
}
