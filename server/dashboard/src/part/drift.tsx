import { useEffect } from 'preact/hooks';
import { call } from '../call';
import { tellDecided } from '../decided';
import { useLoad } from '../load';
import type { Drift } from '../types';
import { Act } from './button';

// checkInterval is how often an open page compares the configuration file again.
const checkInterval = 60_000;

const happened = {
  added: 'is new in the file',
  changed: 'has changed in the file',
  removed: 'is no longer in the file',
};

// DriftNote says in which entries the configuration file differs from the exchange, and lets an
// administrator take one side. It shows nothing if there is no difference.
export function DriftNote({ page }: { page: string }) {
  const { data, reload } = useLoad<Drift>('config/drift');
  useEffect(reload, [page]);
  useEffect(() => {
    const timer = setInterval(reload, checkInterval);
    return () => clearInterval(timer);
  }, []);
  const entries = data?.entries ?? [];
  if (entries.length === 0) return null;
  const take = async (side: 'file' | 'exchange') => {
    await call('POST', 'config/drift', { body: { side, entries: entries.map((e) => e.entry) } });
    reload();
    tellDecided();
  };
  const count = entries.length === 1 ? 'One entry' : `${entries.length} entries`;
  return (
    <section class="note warn" aria-label="Configuration file">
      <details>
        <summary>
          {count} of <code>{data?.file}</code> {entries.length === 1 ? 'differs' : 'differ'} from this exchange.
        </summary>
        <ul>
          {entries.map((e) => (
            <li key={e.entry}>
              <code>{e.entry}</code> {happened[e.change]}
              <pre>{e.changes.join('\n')}</pre>
            </li>
          ))}
        </ul>
        <div class="row">
          <Act
            needs="admin"
            run={() => take('file')}
            sure={{
              title: 'Use the file’s version?',
              text: 'The exchange changes these entries as the file has them, removes those that are no longer in the file, and creates those again that were deleted here.',
            }}
            done="The exchange has the file’s version."
          >
            Use the file’s version
          </Act>
          <Act needs="admin" run={() => take('exchange')} done="The exchange keeps its version.">
            Keep this version
          </Act>
        </div>
      </details>
    </section>
  );
}
