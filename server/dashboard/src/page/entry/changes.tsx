import { count, scalar } from '../../format';
import { usePages } from '../../load';
import { More } from '../../part/more';
import { Empty } from '../../part/state';
import { Badge, Time } from '../../part/words';
import type { HistoryEntry, Kind } from '../../types';

const from = { file: 'the file', api: 'the console or the API', document: 'a whole document' };

// Changes lists configuration changes: the author, the old value and the new value.
export function Changes({ kind, id }: { kind: Kind | ''; id: string }) {
  const pages = usePages<{ entries: HistoryEntry[] }>('config/history', { kind, id, limit: 20 });
  const entries = pages.data?.flatMap((p) => p.entries) ?? [];
  return (
    <More of={pages} empty={<Empty title="No changes yet" />} none={entries.length === 0}>
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
                      <em>removed</em>
                    )}
                  </span>
                </li>
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

// Value shows one value of a change. A whole entry is folded.
function Value({ of }: { of: unknown }) {
  if (typeof of !== 'object' || of === null || Array.isArray(of)) return <code>{scalar(of)}</code>;
  return (
    <details>
      <summary>whole entry</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard */}
      <pre tabIndex={0}>{JSON.stringify(of, null, 2)}</pre>
    </details>
  );
}
