import { useEntries } from '../../entries';
import { ReadOnly } from '../../form/summary';
import { settingLabel, valueText } from '../../form/value';
import { capital, count } from '../../format';
import { kinds } from '../../kind';
import { usePages } from '../../load';
import { ChangeLine, splitPath, wordsOf } from '../../part/change';
import { More } from '../../part/more';
import { Empty } from '../../part/state';
import { Badge, Ref, refKinds, Time } from '../../part/words';
import type { Doc, HistoryEntry, Kind } from '../../types';

const from = { file: 'the file', api: 'the console or the API', document: 'a whole document' };

// Changes lists configuration changes: the author, the old value and the new value.
export function Changes({ kind, id }: { kind: Kind | ''; id: string }) {
  const pages = usePages<{ entries: HistoryEntry[] }>('config/history', { kind, id, limit: 20 });
  const entries = pages.data?.flatMap((p) => p.entries) ?? [];
  return (
    <More
      of={pages}
      empty={<Empty title="No changes yet">Each saved change appears here, with its author.</Empty>}
      none={entries.length === 0}
    >
      <ol class="history">
        {entries.map((e) => (
          <li>
            <p class="row">
              <Badge>version {e.version}</Badge> <Time at={e.at} />
              <span>
                by <strong>{e.by || 'the exchange'}</strong>, from {from[e.from] ?? e.from}
              </span>
            </p>
            <ul class="changes">
              {e.changes.map((c) => (
                <Change of={c} own={id !== ''} />
              ))}
            </ul>
            {e.changes.length === 0 && !e.lost && <p class="faint">No visible value changed.</p>}
            {e.more ? <p class="faint">and {count(e.more)} more changes</p> : null}
            {e.lost && <p class="faint">The earlier value is no longer readable.</p>}
          </li>
        ))}
      </ol>
    </More>
  );
}

// Change shows one change. A page of one entry (own) does not repeat the entry's name. A setting of the
// exchange itself has a label made of its key, and the key as the title.
function Change({ of, own }: { of: HistoryEntry['changes'][number]; own: boolean }) {
  const entries = useEntries();
  const at = splitPath(of.path, entries);
  if (!at) {
    const shown = (value: unknown) => (value === undefined || value === null ? undefined : valueText(undefined, value));
    return (
      <ChangeLine
        label={<span title={of.path}>{settingLabel(of.path)}</span>}
        before={shown(of.before)}
        after={shown(of.after)}
      />
    );
  }
  const { specs, one } = kinds[at.kind];
  const name = !own && (
    <>
      {capital(one)} <Ref of={refKinds[at.kind]} id={at.id} />
    </>
  );
  if (at.rest === '') {
    const shown = (value: unknown) =>
      value === undefined || value === null ? undefined : (
        <details>
          <summary>Whole entry</summary>
          <ReadOnly of={specs} document={value as Doc} />
        </details>
      );
    return <ChangeLine label={name} before={shown(of.before)} after={shown(of.after)} />;
  }
  const { label, ...values } = wordsOf(specs, at.rest, of, entries);
  return (
    <ChangeLine
      label={
        <>
          {name}
          {name && ', '}
          {label}
        </>
      }
      {...values}
    />
  );
}
