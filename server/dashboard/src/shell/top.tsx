import { useEffect, useState } from 'preact/hooks';
import { type Route, to } from '../route';
import { useSession } from '../session';
import { kept, show, type Theme } from '../theme';
import { choose, useWorkspace } from '../workspace';
import { type Inbox, InboxButton } from './inbox';
import { PeriodPicker } from './period';

interface Of {
  menu: boolean;
  open: (yes: boolean) => void;
  search: () => void;
  inbox: Inbox;
  query: Route['query'];
  leave: () => Promise<void>;
}

export function Top({ menu, open, search, inbox, query, leave }: Of) {
  useDrops();
  return (
    <header class="top">
      <button
        type="button"
        class="button quiet menu-button"
        aria-expanded={menu}
        aria-controls="menu"
        onClick={() => open(!menu)}
      >
        Menu
      </button>
      <a class="brand" href={to([])} title="Home">
        <img src="/favicon.svg" alt="" width="24" height="24" /> <span>{inbox.overview?.tenant || 'pingpost'}</span>
      </a>
      <button type="button" class="button search-button" onClick={search}>
        <span>Search</span> <kbd>Ctrl K</kbd>
      </button>
      <PeriodPicker query={query} />
      <Mode />
      <InboxButton of={inbox} />
      <Person leave={leave} />
    </header>
  );
}

// Mode switches all lists between live and test leads.
function Mode() {
  const { test } = useWorkspace();
  return (
    <fieldset class="switch">
      <legend class="unseen">Leads</legend>
      {[false, true].map((on) => (
        <button type="button" aria-pressed={test === on} onClick={() => choose({ test: on })}>
          {on ? 'Test' : 'Live'}
        </button>
      ))}
    </fieldset>
  );
}

function Person({ leave }: { leave: () => Promise<void> }) {
  const session = useSession();
  const [theme, set] = useState<Theme>(kept());
  const change = (word: Theme) => {
    set(word);
    show(word);
  };
  return (
    <details class="drop right">
      <summary class="button quiet" aria-label={`Account of ${session.name}`}>
        <span class="initial" aria-hidden="true">
          {(session.name || '?').slice(0, 1).toUpperCase()}
        </span>
      </summary>
      <div class="drop-body person">
        <p class="who">
          {session.name} <span class="faint">{session.role}</span>
        </p>
        <label>
          Colors
          <select value={theme} onChange={(e) => change(e.currentTarget.value as Theme)}>
            <option value="system">System</option>
            <option value="light">Light</option>
            <option value="dark">Dark</option>
          </select>
        </label>
        <a href="/help/docs" target="_blank" rel="noreferrer">
          Documentation
        </a>
        {session.second_factor && <a href={to(['settings', 'account'])}>My account</a>}
        {session.by !== 'password' && session.by !== 'token' && (
          <button type="button" class="button" onClick={() => void leave()}>
            Sign out
          </button>
        )}
      </div>
    </details>
  );
}

// useDrops closes an open drop-down by a click elsewhere, by Escape, and when the page changes.
function useDrops(): void {
  useEffect(() => {
    const shut = (except: EventTarget | null, within = '') => {
      for (const d of document.querySelectorAll<HTMLDetailsElement>(`${within} details.drop[open]`)) {
        if (!(except instanceof Node) || !d.contains(except)) d.open = false;
      }
    };
    const click = (e: Event) => shut(e.target);
    const press = (e: KeyboardEvent) => {
      if (e.key !== 'Escape') return;
      const own = document.activeElement?.closest('details.drop')?.querySelector('summary');
      shut(null);
      own?.focus();
    };
    const leave = () => shut(null, '.top'); // a panel of filters stays open while they apply
    addEventListener('click', click);
    addEventListener('keydown', press);
    addEventListener('hashchange', leave);
    return () => {
      removeEventListener('click', click);
      removeEventListener('keydown', press);
      removeEventListener('hashchange', leave);
    };
  }, []);
}
