import { useEffect, useRef, useState } from 'preact/hooks';
import { entryKinds, useEntries } from '../entries';
import { kinds } from '../kind';
import { findPerson, type Person, personOf } from '../person';
import { placeOf, to } from '../route';
import { areas, destinations, places } from './places';

interface Hit {
  name: string;
  note: string;
  href: string;
  person?: Person; // found by a request, because its address must not have the value
}

const most = 12;

// useHits returns the pages and entries for a text. An id of a lead, an auction or a request
// comes first.
function useHits(text: string): Hit[] {
  const entries = useEntries();
  const wanted = text.trim().toLowerCase();
  const pages: Hit[] = [
    ...areas.map((a) => ({ name: places[a.path]?.name ?? '', note: 'Page', href: to(a.path ? [a.path] : []) })),
    ...destinations.map((d) => ({ name: d.name, note: 'Page', href: to(d.path) })),
  ];
  const named: Hit[] = entryKinds.flatMap((kind) =>
    (entries[kind] ?? []).map((i) => ({
      name: String(i.document.name || i.id),
      note: `${kinds[kind].one} ${i.id}`,
      href: to([kind, i.id]),
    })),
  );
  if (wanted === '') return pages.slice(0, most);
  const found = [...pages, ...named].filter((h) => `${h.name} ${h.note}`.toLowerCase().includes(wanted));
  const starts = (h: Hit): number => (h.name.toLowerCase().startsWith(wanted) ? 0 : 1);
  found.sort((a, b) => starts(a) - starts(b));
  const place = placeOf(text);
  const person = personOf(text);
  if (person) {
    const by = person.by === 'email' ? 'email' : 'phone number';
    found.unshift({ name: `Find the leads with this ${by}`, note: 'Person', href: to(['find']), person });
  } else if (place) found.unshift({ name: text.trim(), note: 'Open this id', href: place });
  else if (!/\s/.test(text.trim()) && !text.includes('@')) {
    found.push({ name: text.trim(), note: 'Open as a supplier’s own auction id', href: to(['auctions', text.trim()]) });
  }
  return found.slice(0, most);
}

// Palette is the search over pages, entries and ids. The arrow keys choose a hit.
export function Palette({ close }: { close: () => void }) {
  const at = useRef<HTMLDialogElement>(null);
  const [text, set] = useState('');
  const [chosen, choose] = useState(0);
  const hits = useHits(text);
  useEffect(() => {
    at.current?.showModal();
    return () => at.current?.close();
  }, []);
  const open = (hit: Hit | undefined) => {
    if (!hit) return;
    close();
    if (hit.person) findPerson(hit.person);
    else location.hash = hit.href;
  };
  const press = (e: KeyboardEvent) => {
    const by = e.key === 'ArrowDown' ? 1 : e.key === 'ArrowUp' ? -1 : 0;
    if (by === 0) return;
    e.preventDefault();
    choose((chosen + by + hits.length) % Math.max(1, hits.length));
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it too
    <dialog
      ref={at}
      class="palette"
      aria-label="Search"
      onCancel={(e) => {
        e.preventDefault();
        close();
      }}
      onClick={(e) => e.target === at.current && close()}
    >
      <form
        role="search"
        onSubmit={(e) => {
          e.preventDefault();
          open(hits[chosen]);
        }}
      >
        <input
          type="search"
          role="combobox"
          aria-expanded="true"
          aria-controls="hits"
          aria-activedescendant={hits.length > 0 ? `hit-${chosen}` : undefined}
          aria-label="Search for an id, a person, a buyer, a campaign or a page"
          placeholder="Id, phone, email, buyer, campaign, supplier, page"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={(e) => {
            set(e.currentTarget.value);
            choose(0);
          }}
          onKeyDown={press}
        />
      </form>
      <div id="hits" role="listbox" aria-label="Results">
        {hits.map((h, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the search field handles the keys
          <div id={`hit-${i}`} role="option" tabIndex={-1} aria-selected={i === chosen} onClick={() => open(h)}>
            <span>{h.name}</span>
            <span class="faint">{h.note}</span>
          </div>
        ))}
      </div>
      {hits.length === 0 && <p class="faint">No page or entry has this name.</p>}
    </dialog>
  );
}
