import { hashNames } from '../../form/list';
import { count, label } from '../../format';
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
              People on a list are not sold. <a href={to(['compliance', 'suppression', fresh])}>Create a list</a>,
              upload phone numbers or emails, and choose it in a campaign or a buyer.
            </Empty>
          ) : (
            <Table
              caption="Suppression lists"
              rows={all}
              keyOf={(l) => l.id}
              columns={[
                { head: 'List', of: (l) => <Ref of="suppression" id={l.id} />, sort: (l) => l.id },
                { head: 'Field', of: (l) => label(String(l.document.field ?? '')) },
                { head: 'Entries are', of: (l) => hashNames[String(l.document.hash ?? 'plain')] },
                {
                  head: 'Entries',
                  number: true,
                  phone: 'side',
                  of: (l) =>
                    contents(l.id)?.entries ? (
                      count(contents(l.id)?.entries)
                    ) : (
                      <>
                        0{' '}
                        <a href={to(['compliance', 'suppression', l.id])} aria-label={`Upload entries of ${l.id}`}>
                          Upload
                        </a>
                      </>
                    ),
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
