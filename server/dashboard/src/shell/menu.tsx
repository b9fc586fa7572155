import { count } from '../format';
import { to } from '../route';
import type { Inbox } from './inbox';
import { areas, places } from './places';

interface Of {
  open: boolean;
  area: string | undefined;
  inbox: Inbox;
  keys: () => void;
}

export function Menu({ open, area, inbox, keys }: Of) {
  return (
    <nav id="menu" class={open ? 'open' : ''} aria-label="Pages">
      <ul>
        {areas.map(({ path }) => (
          <li>
            <a href={to(path ? [path] : [])} aria-current={path === area ? 'page' : undefined}>
              {places[path]?.name}
              {path === 'review' && inbox.review > 0 && <span class="count">{count(inbox.review)}</span>}
            </a>
          </li>
        ))}
      </ul>
      <button type="button" class="keys-button" onClick={keys}>
        Keyboard shortcuts <kbd>?</kbd>
      </button>
    </nav>
  );
}
