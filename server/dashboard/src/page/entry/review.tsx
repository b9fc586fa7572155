import type { ComponentChildren } from 'preact';
import { Act, Button } from '../../part/button';
import { Dialog } from '../../part/dialog';
import type { Applied } from '../../types';

interface Of {
  of: Applied;
  created?: ComponentChildren; // summary of a new entry, in place of the changes
  close: () => void;
  save: () => Promise<unknown>;
}

// Review shows the effect of a change before it is saved.
export function Review({ of, created, close, save }: Of) {
  const nothing = of.changes.length === 0;
  return (
    <Dialog title={nothing ? 'No changes' : 'Review changes'} close={close}>
      {!nothing && created}
      {!nothing && !created && (
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
      <Warnings of={of.warnings} />
      <div class="row end">
        <Button onClick={close}>Back</Button>
        <Act needs="admin" tone="main" run={save} disabled={nothing}>
          Save
        </Act>
      </div>
    </Dialog>
  );
}

// Warnings lists what the exchange allows, but the operator probably does not want.
export function Warnings({ of }: { of: string[] }) {
  if (of.length === 0) return null;
  return (
    <div class="note warn">
      <p>{of.length === 1 ? 'Warning:' : 'Warnings:'}</p>
      <ul>
        {of.map((text) => (
          <li>{text}</li>
        ))}
      </ul>
    </div>
  );
}

// savedText says that an entry was saved, with the warnings.
export function savedText(id: string, warnings: string[] = []): string {
  return [`${id} is saved and in force.`, ...warnings.map((text) => `Warning: ${text}`)].join(' ');
}
