import { part } from '../../call';
import type { EntryKind } from '../../entries';
import type { Spec } from '../../form/spec';
import { fresh, kinds } from '../../kind';
import { useLoad } from '../../load';
import { Empty, Loaded } from '../../part/state';
import { Badge, Card, Heading, Tabs } from '../../part/words';
import type { PageOf } from '../../route';
import { go, to } from '../../route';
import type { Item, Kind } from '../../types';
import { buyerTabs } from '../buyers/tabs';
import { NewCampaign } from '../campaigns/steps';
import { campaignTabs } from '../campaigns/tabs';
import { NewSupplier } from '../suppliers/new';
import { supplierTabs } from '../suppliers/tabs';
import { Changes } from './changes';
import { Form } from './form';
import { Pause, Remove } from './remove';
import type { TabOf } from './tab';

const tabsOf: { [kind in EntryKind]: TabOf[] } = {
  campaigns: campaignTabs,
  buyers: buyerTabs,
  suppliers: supplierTabs,
};

const pick = (specs: Spec[], keys: string[] = []): Spec[] => specs.filter((s) => keys.includes(s.key));

const firstFields: { [key: string]: string[] } = {
  buyers: ['id', 'name', 'endpoint', 'auth', 'states', 'caps', 'funds'],
};

export function EntryPage({ kind, id, tab, query }: PageOf & { kind: EntryKind }) {
  if (id !== fresh) return <Existing kind={kind} id={id} tab={tab} />;
  if (kind === 'campaigns') return <NewCampaign from={query.from ?? ''} />;
  if (kind === 'suppliers') return <NewSupplier />;
  const of = kinds[kind];
  const main = firstFields[kind] ?? [];
  return (
    <>
      <Crumbs kind={kind} />
      <Heading title={`New ${of.one}`} />
      <Form
        kind={kind}
        title="Settings"
        specs={pick(of.specs, main)}
        more={of.specs.filter((s) => !main.includes(s.key))}
        saved={(made) => go([...of.place, made])}
      />
    </>
  );
}

export function Crumbs({ kind }: { kind: EntryKind }) {
  return (
    <p class="crumbs">
      <a href={to([kind])}>{kinds[kind].many}</a>
    </p>
  );
}

// Missing is the page of an id that no entry has.
export function Missing({ kind, id }: { kind: Kind; id: string }) {
  const { one, many, place } = kinds[kind];
  return (
    <>
      <Heading title={`No such ${one}`} />
      <Empty title={`The exchange has no ${one} with the id ${id}`}>
        It may have been removed. <a href={to(place)}>All {many.toLowerCase()}</a>
      </Empty>
    </>
  );
}

function Existing({ kind, id, tab }: { kind: EntryKind; id: string; tab: string }) {
  const of = kinds[kind];
  const item = useLoad<Item>(`config/${kind}/${part(id)}`);
  const tabs = tabsOf[kind];
  const current = tabs.find((t) => t.key === tab) ?? tabs[0];
  const found = item.data;
  const name = String(found?.document.name || id);
  if (item.failure?.status === 404) return <Missing kind={kind} id={id} />;
  return (
    <>
      <Crumbs kind={kind} />
      <Heading title={name} id={name === id ? undefined : id}>
        {found && of.pauses && (
          <>
            {found.paused ? <Badge tone="warn">paused</Badge> : <Badge tone="good">active</Badge>}
            <Pause kind={kind} id={id} paused={found.paused ?? false} done={item.reload} />
          </>
        )}
        {found && kind === 'campaigns' && (
          <a class="button quiet" href={to(['campaigns', fresh], { from: id })}>
            Clone
          </a>
        )}
      </Heading>
      <Tabs
        label={`Parts of ${name}`}
        at={current?.key ?? ''}
        of={tabs.map((t, i) => ({ key: t.key, name: t.name, href: to(i === 0 ? [kind, id] : [kind, id, t.key]) }))}
      />
      <Loaded of={item}>
        {(one) => (
          <>
            {current?.body?.(one, item.reload)}
            {current?.fields && (
              <Form
                key={`${one.etag} ${current.key}`}
                kind={kind}
                item={one}
                title={current.title}
                specs={pick(of.specs, current.fields)}
                shown={current.shown}
                saved={item.reload}
              />
            )}
            {current?.after?.(one, item.reload)}
            {current?.key === 'settings' && <Settings kind={kind} item={one} />}
          </>
        )}
      </Loaded>
    </>
  );
}

function Settings({ kind, item }: { kind: EntryKind; item: Item }) {
  return (
    <Card title="History" side={item.owner === 'api' && <Remove kind={kind} item={item} />}>
      <Changes key={item.etag} kind={kind} id={item.id} />
    </Card>
  );
}
