import { Act, Button } from '../../part/button';
import { Dialog } from '../../part/dialog';
import type { Applied } from '../../types';

// Review shows the effect of a change before it is saved.
export function Review({ of, close, save }: { of: Applied; close: () => void; save: () => Promise<unknown> }) {
  const nothing = of.changes.length === 0;
  return (
    <Dialog title={nothing ? 'No changes' : 'Review changes'} close={close}>
      {!nothing && (
        <ul class="changes mono">
          {of.changes.map((line) => (
            <li class={line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : ''}>{line}</li>
          ))}
        </ul>
      )}
      {of.unapplied.length > 0 && (
        <>
          <p class="note warn">These are initial values only. The exchange keeps its present values:</p>
          <ul class="changes mono">
            {of.unapplied.map((line) => (
              <li>{line}</li>
            ))}
          </ul>
        </>
      )}
      <div class="row end">
        <Button onClick={close}>Back</Button>
        <Act needs="admin" tone="main" run={save} disabled={nothing}>
          Save
        </Act>
      </div>
    </Dialog>
  );
}
