import type { ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { AccessPage } from './page/access';
import { AuctionPage, AuctionsPage } from './page/auctions';
import { BenchPage } from './page/bench';
import { CapsPage } from './page/caps';
import { DeliveriesPage } from './page/deliveries';
import { ErasePage } from './page/erase';
import { HistoryPage } from './page/history';
import { ItemPage } from './page/item';
import { ItemsPage } from './page/items';
import { LeadPage, LeadsPage } from './page/leads';
import { OverviewPage } from './page/overview';
import { ReportsPage } from './page/reports';
import { ReturnsPage } from './page/returns';
import { StatementsPage } from './page/statements';
import { UnmatchedPage } from './page/unmatched';
import { WebhookPage, WebhooksPage } from './page/webhooks';
import { Button } from './part/button';
import { Empty } from './part/state';
import { type PageOf, parse, placeOf, to } from './route';
import { useSession } from './session';
import { kept, show, type Theme } from './theme';

interface Place {
  name: string;
  list: ComponentType<PageOf>;
  one?: ComponentType<PageOf>;
}

const items = (kind: 'campaigns' | 'buyers' | 'suppliers' | 'suppression_lists') => ({
  list: (of: PageOf) => <ItemsPage kind={kind} {...of} />,
  one: (of: PageOf) => <ItemPage kind={kind} key={of.id} {...of} />,
});

const places: { [path: string]: Place } = {
  '': { name: 'Overview', list: OverviewPage },
  leads: { name: 'Leads', list: LeadsPage, one: LeadPage },
  auctions: { name: 'Auctions', list: AuctionsPage, one: AuctionPage },
  unmatched: { name: 'Why unmatched', list: UnmatchedPage },
  caps: { name: 'Caps', list: CapsPage },
  deliveries: { name: 'Deliveries', list: DeliveriesPage },
  returns: { name: 'Returns', list: ReturnsPage },
  webhooks: { name: 'Webhooks', list: WebhooksPage, one: WebhookPage },
  campaigns: { name: 'Campaigns', ...items('campaigns') },
  buyers: { name: 'Buyers', ...items('buyers') },
  suppliers: { name: 'Suppliers', ...items('suppliers') },
  suppression: { name: 'Suppression lists', ...items('suppression_lists') },
  reports: { name: 'Reports', list: ReportsPage },
  statements: { name: 'Statements', list: StatementsPage },
  bench: { name: 'Test bench', list: BenchPage },
  history: { name: 'History', list: HistoryPage },
  erase: { name: 'Erase a person', list: (of) => <ErasePage key={of.query.lead ?? ''} {...of} /> },
  access: { name: 'Access', list: AccessPage },
};

const groups: [string, string[]][] = [
  ['Now', ['', 'leads', 'auctions', 'unmatched', 'caps']],
  ['To decide', ['deliveries', 'returns', 'webhooks']],
  ['Market', ['campaigns', 'buyers', 'suppliers', 'suppression']],
  ['Account', ['reports', 'statements']],
  ['Tools', ['bench', 'history', 'erase', 'access']],
];

export function Shell({ leave }: { leave: () => Promise<void> }) {
  const [route, set] = useState(parse(location.hash));
  const [menu, open] = useState(false);
  const main = useRef<HTMLElement>(null);
  useEffect(() => {
    const follow = () => {
      set(parse(location.hash));
      open(false);
    };
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  const [first = '', second = ''] = route.path;
  const place = places[first];
  useEffect(() => {
    document.title = `${[second, place?.name].filter(Boolean).join(' – ') || 'Nothing here'} – pingpost`;
    scrollTo(0, 0);
    main.current?.querySelector('h1')?.focus();
  }, [first, second]);
  const Page = place && (second ? place.one : place.list);
  return (
    <div class="shell">
      <button type="button" class="button skip" onClick={() => main.current?.querySelector('h1')?.focus()}>
        To the content
      </button>
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
        <a class="brand" href={to([])} aria-label="pingpost, overview">
          <img src="/favicon.svg" alt="" width="24" height="24" /> <span>pingpost</span>
        </a>
        <Find />
        <Person leave={leave} />
      </header>
      <nav id="menu" class={menu ? 'open' : ''} aria-label="Pages">
        {groups.map(([name, paths]) => (
          <div>
            <p class="faint">{name}</p>
            <ul>
              {paths.map((path) => (
                <li>
                  <a href={to([path])} aria-current={path === first ? 'page' : undefined}>
                    {places[path]?.name}
                  </a>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <main ref={main} id="main">
        {Page ? (
          <Page id={second} query={route.query} />
        ) : (
          <>
            <h1 tabIndex={-1}>Nothing here</h1>
            <Empty title="There is no page at this address">
              Choose one from the menu, or go to the <a href={to([])}>overview</a>.
            </Empty>
          </>
        )}
      </main>
    </div>
  );
}

// Find opens the page of an id.
function Find() {
  const [text, set] = useState('');
  return (
    <form
      class="find"
      role="search"
      onSubmit={(e) => {
        e.preventDefault();
        if (text.trim() === '') return;
        location.hash = placeOf(text) ?? to(['auctions', text.trim()]);
        set('');
      }}
    >
      <input
        type="search"
        aria-label="Find a lead, an auction or a request by its id"
        placeholder="lead_…, auc_…, req_…"
        value={text}
        spellcheck={false}
        onInput={(e) => set(e.currentTarget.value)}
      />
    </form>
  );
}

function Person({ leave }: { leave: () => Promise<void> }) {
  const session = useSession();
  const [theme, set] = useState<Theme>(kept());
  const choose = (word: Theme) => {
    set(word);
    show(word);
  };
  return (
    <div class="person">
      <select aria-label="Colours" value={theme} onChange={(e) => choose(e.currentTarget.value as Theme)}>
        <option value="system">system</option>
        <option value="light">light</option>
        <option value="dark">dark</option>
      </select>
      <span class="who">
        {session.name} <span class="faint">{session.role}</span>
      </span>
      {session.by !== 'password' && session.by !== 'token' && (
        <Button tone="quiet" onClick={() => void leave()}>
          Sign out
        </Button>
      )}
    </div>
  );
}
