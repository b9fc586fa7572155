import { Button } from '../part/button';
import { Dialog } from '../part/dialog';
import { areas, places } from './places';

const general: [string, string][] = [
  ['Ctrl K or ⌘ K', 'Search: an id, a buyer, a campaign, a page'],
  ['/', 'Search on this page'],
  ['↑ ↓', 'Move between the rows of a table'],
  ['Esc', 'Close'],
  ['?', 'This list'],
];

// Keyboard lists the keyboard shortcuts.
export function Keyboard({ close }: { close: () => void }) {
  const all = [...general, ...areas.map((a): [string, string] => [`g ${a.key}`, places[a.path]?.name ?? ''])];
  return (
    <Dialog title="Keyboard shortcuts" close={close}>
      <dl class="keys">
        {all.map(([keys, text]) => (
          <div>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <div class="row end">
        <Button onClick={close}>Close</Button>
      </div>
    </Dialog>
  );
}
