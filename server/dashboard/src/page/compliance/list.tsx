import { part } from '../../call';
import { suppressionList } from '../../form/list';
import { fresh } from '../../kind';
import { useLoad } from '../../load';
import { Loaded } from '../../part/state';
import { Card, Heading } from '../../part/words';
import { go, to } from '../../route';
import type { Item } from '../../types';
import { Changes } from '../entry/changes';
import { Missing } from '../entry/entry';
import { Form } from '../entry/form';
import { Remove } from '../entry/remove';
import { Upload } from './upload';

const place = ['compliance', 'suppression'];

// ListPage is one suppression list: its contents, settings and history.
export function ListPage({ id }: { id: string }) {
  const isNew = id === fresh;
  const item = useLoad<Item>(isNew ? null : `config/suppression_lists/${part(id)}`);
  if (item.failure?.status === 404) return <Missing kind="suppression_lists" id={id} />;
  return (
    <>
      <p class="crumbs">
        <a href={to(place)}>Suppression lists</a>
      </p>
      <Heading title={isNew ? 'New suppression list' : id} />
      {isNew ? (
        <Form
          kind="suppression_lists"
          title="Settings"
          specs={suppressionList}
          saved={(made) => go([...place, made])}
        />
      ) : (
        <Loaded of={item}>
          {(found) => (
            <>
              <Upload
                id={id}
                hash={String(found.document.hash ?? 'plain')}
                field={String(found.document.field ?? '')}
              />
              <Form
                key={found.etag}
                kind="suppression_lists"
                item={found}
                title="Settings"
                specs={suppressionList}
                saved={item.reload}
              />
              <Card title="History" side={found.owner === 'api' && <Remove kind="suppression_lists" item={found} />}>
                <Changes key={found.etag} kind="suppression_lists" id={id} />
              </Card>
            </>
          )}
        </Loaded>
      )}
    </>
  );
}
