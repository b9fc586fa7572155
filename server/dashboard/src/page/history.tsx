import { useState } from 'preact/hooks';
import { count, scalar } from '../format';
import { kinds } from '../kind';
import { usePages } from '../load';
import { Input, Select } from '../part/field';
import { More } from '../part/more';
import { Empty } from '../part/state';
import { Badge, Card, Time } from '../part/words';
import type { HistoryEntry, Kind } from '../types';

export function HistoryPage() {
  const [kind, choose] = useState('');
  const [id, find] = useState('');
  return (
    <>
      <h1 tabIndex={-1}>Configuration history</h1>
      <div class="row filters">
        <Select
          label="Of"
          value={kind}
          set={choose}
          any="everything"
          options={Object.values(kinds).map((k) => [k.kind, k.many.toLowerCase()])}
        />
        <Input label="Id" value={id} set={find} disabled={kind === ''} />
      </div>
      <Card title="Changes, newest first">
        <Changes kind={kind as Kind | ''} id={kind ? id.trim() : ''} />
      </Card>
    </>
  );
}

const from = { file: 'the file', api: 'this page or the API', document: 'a whole document' };

// Changes lists configuration changes: the author, the old value and the new value.
export function Changes({ kind, id }: { kind: Kind | ''; id: string }) {
  const pages = usePages<{ entries: HistoryEntry[] }>('config/history', { kind, id, limit: 20 });
  const entries = pages.data?.flatMap((p) => p.entries) ?? [];
  return (
    <More of={pages} empty={<Empty title="Nothing was changed yet" />} none={entries.length === 0}>
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
                <li>
                  <code>{c.path}</code>
                  <span>
                    {c.before !== undefined && c.before !== null && (
                      <del>
                        <Value of={c.before} />
                      </del>
                    )}{' '}
                    {c.after !== undefined && c.after !== null ? (
                      <ins>
                        <Value of={c.after} />
                      </ins>
                    ) : (
                      <em>taken out</em>
                    )}
                  </span>
                </li>
              ))}
            </ul>
            {e.changes.length === 0 && !e.lost && <p class="faint">Nothing that is told changed.</p>}
            {e.more ? <p class="faint">and {count(e.more)} changes more</p> : null}
            {e.lost && <p class="faint">What it was before cannot be read any more.</p>}
          </li>
        ))}
      </ol>
    </More>
  );
}

// Value shows one value of a change. A whole entry is folded.
function Value({ of }: { of: unknown }) {
  if (typeof of !== 'object' || of === null || Array.isArray(of)) return <code>{scalar(of)}</code>;
  return (
    <details>
      <summary>all of it</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard */}
      <pre tabIndex={0}>{JSON.stringify(of, null, 2)}</pre>
    </details>
  );
}
