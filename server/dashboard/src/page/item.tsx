import { useEffect, useState } from 'preact/hooks';
import { call, type Failure, part } from '../call';
import { differences } from '../form/document';
import { Fields } from '../form/editor';
import { scalar } from '../format';
import { fresh, kinds } from '../kind';
import { asFailure, useLoad } from '../load';
import { Act, Button } from '../part/button';
import { Dialog } from '../part/dialog';
import { say } from '../part/notice';
import { Loaded } from '../part/state';
import { Table } from '../part/table';
import { Badge, Card } from '../part/words';
import { Wrong } from '../part/wrong';
import type { PageOf } from '../route';
import { go, to } from '../route';
import { useDenied } from '../session';
import type { Applied, Doc, Item, Kind } from '../types';
import { BuyerParts } from './buyer';
import { Changes } from './history';
import { Pause } from './items';
import { SupplierParts } from './supplier';
import { Upload } from './upload';

export function ItemPage({ kind, id }: PageOf & { kind: Kind }) {
  const of = kinds[kind];
  const isNew = id === fresh;
  const item = useLoad<Item>(isNew ? null : `config/${kind}/${part(id)}`);
  if (isNew) {
    return (
      <>
        <Title kind={kind} text={`New ${of.one}`} />
        <Form kind={kind} saved={(made) => go([of.place, made])} />
      </>
    );
  }
  return (
    <>
      <Title kind={kind} text={id} />
      <Loaded of={item}>
        {(found) => (
          <>
            <div class="row" hidden={kind === 'suppression_lists'}>
              {of.pauses && (
                <>
                  {found.paused ? <Badge tone="warn">paused</Badge> : <Badge tone="good">open</Badge>}
                  <Pause kind={kind} id={id} paused={found.paused ?? false} done={item.reload} />
                </>
              )}
              {kind === 'campaigns' && <a href={to(['caps'], { campaign: id })}>Caps</a>}
              {kind === 'buyers' && <a href={to(['caps'], { buyer: id })}>Caps</a>}
              {kind !== 'suppression_lists' && <a href={to(['leads'], { [of.one]: id })}>Leads</a>}
              {kind !== 'suppression_lists' && <a href={to(['unmatched'], { [of.one]: id })}>Why unmatched</a>}
            </div>
            {kind === 'suppliers' && <SupplierParts id={id} document={found.document} />}
            {kind === 'buyers' && <BuyerParts id={id} document={found.document} />}
            {kind === 'suppression_lists' && <Upload id={id} />}
            <Form key={found.etag} kind={kind} item={found} saved={item.reload} />
          </>
        )}
      </Loaded>
      <Card title="History of it">
        <Changes key={item.data?.etag} kind={kind} id={id} />
      </Card>
    </>
  );
}

function Title({ kind, text }: { kind: Kind; text: string }) {
  const of = kinds[kind];
  return (
    <div class="title">
      <h1 tabIndex={-1}>{text}</h1>
      <a href={to([of.place])}>All {of.many.toLowerCase()}</a>
    </div>
  );
}

// Form changes an item in two steps: it shows the differences before it saves them.
function Form({ kind, item, saved }: { kind: Kind; item?: Item; saved: (id: string) => void }) {
  const of = kinds[kind];
  const [document, set] = useState<Doc>(item?.document ?? of.fresh);
  const [etag, base] = useState(item?.etag);
  const [review, show] = useState<Applied | undefined>();
  const [failure, fail] = useState<Failure | undefined>();
  const [stale, meet] = useState<{ current: Item | null } | undefined>();
  const ids = useIds();
  const defaults = useLoad<{ [kind in Kind]: Doc }>('config/defaults').data?.[kind] ?? {};
  const denied = useDenied('admin');
  const byFile = item?.owner === 'file';
  const id = item?.id ?? String(document.id ?? '');
  const put = (dry: boolean) =>
    call<Applied>('PUT', `config/${kind}/${part(id)}`, {
      query: { dry: dry ? 1 : undefined },
      headers: etag ? { 'If-Match': etag } : { 'If-None-Match': '*' },
      body: document,
    });
  const order = async (dry: boolean) => {
    fail(undefined);
    try {
      const applied = await put(dry);
      if (dry) return show(applied);
      show(undefined);
      say(applied.changes.length > 0 ? `${id} is saved and in force.` : `${id} is as it was.`);
      saved(id);
    } catch (problem) {
      show(undefined);
      const why = asFailure(problem);
      const both = why.body as { current?: Item | null } | null;
      if (why.status === 409 && both?.current !== undefined) meet({ current: both.current });
      else fail(why);
    }
  };
  return (
    <Card title={item ? 'Settings' : 'Its settings'}>
      {byFile && (
        <p class="note">
          This {of.one} is kept in <code>{item?.file ?? 'the file'}</code> and is read only here. Change it there, and
          have the exchange read it again (SIGHUP, or <code>pingpost apply</code>).
        </p>
      )}
      {!byFile && denied && <p class="note">{denied}</p>}
      <Summary failure={failure} />
      <form
        onSubmit={(e) => {
          e.preventDefault();
          void order(true);
        }}
      >
        <Fields
          of={of.specs}
          path={[]}
          form={{
            document,
            set,
            errors: failure?.fields ?? [],
            locked: byFile || denied !== '',
            fresh: !item,
            ids,
            defaults,
          }}
        />
        {!byFile && denied === '' && (
          <div class="row end sticky">
            {item && etag && <Remove kind={kind} item={{ ...item, etag }} />}
            <Button type="submit" tone="main" disabled={id === ''}>
              Review changes
            </Button>
          </div>
        )}
      </form>
      {review && <Review of={review} close={() => show(undefined)} save={() => order(false)} />}
      {stale && (
        <Stale
          current={stale.current}
          mine={document}
          close={() => meet(undefined)}
          theirs={() => {
            meet(undefined);
            if (!stale.current) return go([of.place]);
            set(stale.current.document);
            base(stale.current.etag);
          }}
          keep={() => {
            meet(undefined);
            base(stale.current?.etag);
            say('Yours is kept. Review it against what is in force now.');
          }}
        />
      )}
    </Card>
  );
}

// Summary lists the errors above a long form, with links to the fields.
function Summary({ failure }: { failure: Failure | undefined }) {
  useEffect(() => {
    if (failure) window.document.querySelector<HTMLElement>('form .wrong input, form .wrong select')?.focus();
  }, [failure]);
  return <Wrong failure={failure} />;
}

function useIds() {
  const buyers = useLoad<{ items: Item[] }>('config/buyers');
  const suppliers = useLoad<{ items: Item[] }>('config/suppliers');
  const lists = useLoad<{ items: Item[] }>('config/suppression_lists');
  const ids = (of: typeof buyers) => of.data?.items.map((i) => i.id);
  return { buyers: ids(buyers), suppliers: ids(suppliers), suppression_lists: ids(lists) };
}

function Review({ of, close, save }: { of: Applied; close: () => void; save: () => Promise<unknown> }) {
  const nothing = of.changes.length === 0;
  return (
    <Dialog title={nothing ? 'Nothing would change' : 'What would change'} close={close}>
      {!nothing && (
        <ul class="changes mono">
          {of.changes.map((line) => (
            <li class={line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : ''}>{line}</li>
          ))}
        </ul>
      )}
      {of.unapplied.length > 0 && (
        <>
          <p class="note warn">These are first values only; others are in force, and stay:</p>
          <ul class="changes mono">
            {of.unapplied.map((line) => (
              <li>{line}</li>
            ))}
          </ul>
        </>
      )}
      <div class="row end">
        <Button onClick={close}>Go on editing</Button>
        <Act needs="admin" tone="main" run={save} disabled={nothing}>
          Save
        </Act>
      </div>
    </Dialog>
  );
}

function Stale({
  current,
  mine,
  close,
  theirs,
  keep,
}: {
  current: Item | null; // null: the item was removed
  mine: Doc;
  close: () => void;
  theirs: () => void;
  keep: () => void;
}) {
  if (!current) {
    return (
      <Dialog title="Somebody else has removed it" close={close}>
        <p>It was removed after you opened it. What you wrote is still here, and can make it anew.</p>
        <div class="row end">
          <Button onClick={close}>Cancel</Button>
          <Button onClick={theirs}>Leave it removed</Button>
          <Button tone="main" onClick={keep}>
            Make it anew, and review
          </Button>
        </div>
      </Dialog>
    );
  }
  const list = differences(current.document, mine);
  return (
    <Dialog title="Somebody else has changed it" close={close}>
      <p>It was saved by another after you opened it. Where the two differ:</p>
      {list.length === 0 ? (
        <p>Nowhere: what is in force is what you wrote.</p>
      ) : (
        <Table
          caption="Both versions"
          rows={list}
          keyOf={(d) => d.path}
          columns={[
            { head: 'Where', of: (d) => <code>{d.path}</code> },
            { head: 'In force', of: (d) => <code>{scalar(d.before)}</code> },
            { head: 'Yours', of: (d) => <code>{scalar(d.after)}</code> },
          ]}
        />
      )}
      <div class="row end">
        <Button onClick={close}>Cancel</Button>
        <Button onClick={theirs}>Take what is in force</Button>
        <Button tone="main" onClick={keep}>
          Keep mine, and review
        </Button>
      </div>
    </Dialog>
  );
}

function Remove({ kind, item }: { kind: Kind; item: Item }) {
  const of = kinds[kind];
  return (
    <Act
      needs="admin"
      tone="danger"
      sure={{
        title: `Remove ${item.id}?`,
        text: <p>Its settings go. What it has sent or bought stays in the log and in reports.</p>,
      }}
      run={async () => {
        await call('DELETE', `config/${kind}/${part(item.id)}`, { headers: { 'If-Match': item.etag } });
        go([of.place]);
      }}
      done={`${item.id} is removed.`}
    >
      Remove
    </Act>
  );
}
