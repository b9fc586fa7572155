import { presets } from '../period';
import { parse } from '../route';
import { choose, type Workspace } from '../workspace';

// choosePeriod sets the period of all pages. It removes the days from the address, so that the
// choice applies to the present page too.
export function choosePeriod(part: Pick<Workspace, 'preset' | 'from' | 'to'>): void {
  choose(part);
  const { query } = parse(location.hash);
  if (!query.from && !query.to && !query.preset) return;
  const [path = '', text = ''] = location.hash.split('?');
  const rest = new URLSearchParams(text);
  for (const name of ['from', 'to', 'preset']) rest.delete(name);
  location.hash = `${path}${rest.size > 0 ? `?${rest}` : ''}`;
}

// Presets has a button for each preset period. at is the preset in force, empty for own days.
export function Presets({ at, chosen }: { at: string; chosen?: (of: HTMLElement) => void }) {
  return (
    <>
      {presets.map(([key, text]) => (
        <button
          type="button"
          aria-pressed={at === key}
          onClick={(e) => {
            choosePeriod({ preset: key, from: '', to: '' });
            chosen?.(e.currentTarget);
          }}
        >
          {text}
        </button>
      ))}
    </>
  );
}
