import { useEffect, useState } from 'preact/hooks';
import { call, type Failure, part } from '../../call';
import { loadEntries, useEntries } from '../../entries';
import { leadFields, pathOf } from '../../form/document';
import { type Editing, Fields, focusField } from '../../form/editor';
import { type Spec, titleOf } from '../../form/spec';
import { ReadOnly } from '../../form/summary';
import { withExchangeZone } from '../../form/zone';
import { kinds } from '../../kind';
import { asFailure, useLoad } from '../../load';
import { Button } from '../../part/button';
import { say } from '../../part/notice';
import { Card } from '../../part/words';
import { Wrong } from '../../part/wrong';
import { go } from '../../route';
import { useDenied } from '../../session';
import type { Applied, Doc, Item, Kind } from '../../types';
import { Merge } from './merge';
import { Review, savedText } from './review';

// putEntry creates or changes an entry. With dry it only checks.
export function putEntry(kind: Kind, id: string, body: Doc, etag: string | undefined, dry: boolean): Promise<Applied> {
  return call<Applied>('PUT', `config/${kind}/${part(id)}`, {
    query: { dry: dry ? 1 : undefined },
    headers: etag ? { 'If-Match': etag } : { 'If-None-Match': '*' },
    body,
  });
}

// useDefaults returns the values in force for keys that a document leaves out.
export function useDefaults(kind: Kind): Doc {
  return useLoad<{ [kind in Kind]: Doc }>('config/defaults').data?.[kind] ?? {};
}

// useIds returns the ids and names of the entries that a document can refer to.
export function useIds(): Editing['ids'] {
  const entries = useEntries();
  const lists = useLoad<{ items: Item[] }>('config/suppression_lists').data?.items;
  const ids = (items: Item[] | undefined) =>
    items?.map((i): [string, string] => [i.id, String(i.document.name || i.id)]);
  return { buyers: ids(entries.buyers), suppliers: ids(entries.suppliers), suppression_lists: ids(lists) };
}

// useLeadFields returns the lead fields that a filter of the document can name. The filters of a buyer
// apply in each campaign.
export function useLeadFields(kind: Kind, document: Doc): string[] {
  const entries = useEntries();
  return leadFields(kind === 'campaigns' ? [document] : (entries.campaigns ?? []).map((c) => c.document));
}

interface Of {
  kind: Kind;
  item?: Item;
  title?: string;
  specs: Spec[]; // the fields that this form edits
  shown?: string[]; // keys that the page shows above the form; a summary leaves them out
  more?: Spec[]; // rarely used fields, folded
  saved: (id: string) => void;
}

// Form changes some fields of an entry in two steps: it shows the differences before it saves
// them. A reader who may not change the entry sees a summary.
export function Form({ kind, item, title, specs, shown = [], more = [], saved }: Of) {
  const of = kinds[kind];
  const [document, set] = useState<Doc>(item?.document ?? (kind === 'buyers' ? withExchangeZone(of.fresh) : of.fresh));
  const [base, rebase] = useState<Item | undefined>(item); // the version that the changes are based on
  const [review, show] = useState<Applied | undefined>();
  const [failure, fail] = useState<Failure | undefined>();
  const [stale, meet] = useState<{ current: Item | null } | undefined>();
  const ids = useIds();
  const defaults = useDefaults(kind);
  const fields = useLeadFields(kind, document);
  const denied = useDenied('admin');
  const byFile = item?.owner === 'file';
  const id = item?.id ?? String(document.id ?? '');
  const order = async (dry: boolean) => {
    fail(undefined);
    try {
      const applied = await putEntry(kind, id, document, base?.etag, dry);
      if (dry) return show(applied);
      show(undefined);
      loadEntries();
      say(applied.changes.length > 0 ? savedText(id, applied.warnings) : `${id} has no changes.`);
      saved(id);
    } catch (problem) {
      show(undefined);
      const why = asFailure(problem);
      const both = why.body as { current?: Item | null } | null;
      if (why.status === 409 && both?.current !== undefined) meet({ current: both.current });
      else fail(why);
    }
  };
  if (byFile || (item && denied)) {
    const left = specs.filter((s) => !shown.includes(s.key));
    const note = (
      <p class="note">
        {byFile ? (
          <>
            Managed by <code>{item?.file ?? 'the configuration file'}</code>. Change it there, then reload the exchange
            (SIGHUP, or <code>pingpost apply</code>).
          </>
        ) : (
          denied
        )}
      </p>
    );
    if (left.length === 0) return note;
    return (
      <Card title={title}>
        {note}
        <ReadOnly of={left} document={document} />
      </Card>
    );
  }
  const form: Editing = {
    document,
    set,
    errors: failure?.fields ?? [],
    locked: denied !== '',
    fresh: !item,
    ids,
    defaults,
    fields,
  };
  return (
    <Card title={title}>
      {denied && <p class="note">{denied}</p>}
      <Errors failure={failure} specs={[...specs, ...more]} />
      <form
        onSubmit={(e) => {
          e.preventDefault();
          void order(true);
        }}
      >
        <Fields of={specs} path={[]} form={form} />
        {more.length > 0 && (
          <details class="fold more" open={failure !== undefined && failure.fields.length > 0}>
            <summary>More settings</summary>
            <Fields of={more} path={[]} form={form} />
          </details>
        )}
        {denied === '' && (
          <div class="row end sticky">
            <Button type="submit" tone="main" disabled={id === ''}>
              Review changes
            </Button>
          </div>
        )}
      </form>
      {review && (
        <Review
          of={review}
          created={!item && <ReadOnly of={[...specs, ...more]} document={document} />}
          close={() => show(undefined)}
          save={() => order(false)}
        />
      )}
      {stale && (
        <Merge
          base={base?.document ?? {}}
          current={stale.current}
          mine={document}
          close={() => meet(undefined)}
          theirs={() => {
            meet(undefined);
            if (!stale.current) return go(of.place);
            set(stale.current.document);
            rebase(stale.current);
          }}
          keep={(merged) => {
            meet(undefined);
            set(merged);
            rebase(stale.current ?? undefined);
            say(
              stale.current
                ? 'Both versions are merged. Review the changes before you save.'
                : 'Your version is kept. Review it before you save.',
            );
          }}
        />
      )}
    </Card>
  );
}

// Errors lists the errors above a form and moves the focus to the first wrong field.
export function Errors({ failure, specs }: { failure: Failure | undefined; specs: Spec[] }) {
  useEffect(() => {
    if (failure?.fields[0]) focusField(failure.fields[0].field);
  }, [failure]);
  return <Wrong failure={failure} titleOf={(field) => titleOf(specs, pathOf(field))} />;
}
