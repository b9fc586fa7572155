import { useEffect, useRef, useState } from 'preact/hooks';
import { useEntryLoading } from '../entries';
import { DriftNote } from '../part/drift';
import { Empty } from '../part/state';
import { parse, redirect, to } from '../route';
import { useWorkspace } from '../workspace';
import { ConnectionNote } from './connection';
import { useInbox } from './inbox';
import { Keyboard } from './keyboard';
import { useKeys } from './keys';
import { Menu } from './menu';
import { Palette } from './palette';
import { places } from './places';
import { Top } from './top';

// useRoute follows the address. It replaces an earlier address by the present one.
function useRoute(moved: () => void) {
  const [route, set] = useState(parse(location.hash));
  useEffect(() => {
    const follow = () => {
      const next = parse(location.hash);
      const other = redirect(next);
      if (other) location.replace(other);
      else set(next);
      moved();
    };
    follow();
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return route;
}

export function Shell({ leave }: { leave: () => Promise<void> }) {
  const [menu, open] = useState(false);
  const [over, show] = useState<'palette' | 'keys' | ''>('');
  const main = useRef<HTMLElement>(null);
  const route = useRoute(() => open(false));
  const inbox = useInbox();
  const { test } = useWorkspace();
  useEntryLoading();
  useKeys(show);
  const [first = '', second = '', third = ''] = route.path;
  const place = places[first];
  useEffect(() => {
    const id = place?.one && second !== '+' ? second : '';
    document.title = `${[id, place?.name ?? 'Not found'].filter(Boolean).join(' – ')} – pingpost`;
  }, [first, second]);
  const at = place?.one ? `${first}/${second}` : first;
  useEffect(() => {
    scrollTo(0, 0);
    main.current?.querySelector('h1')?.focus();
  }, [at]);
  const Page = place && ((second && place.one) || place.list);
  return (
    <div class="shell">
      <button type="button" class="button skip" onClick={() => main.current?.querySelector('h1')?.focus()}>
        Skip to content
      </button>
      <Top menu={menu} open={open} search={() => show('palette')} inbox={inbox} query={route.query} leave={leave} />
      <Menu open={menu} area={place?.area} inbox={inbox} keys={() => show('keys')} />
      <main ref={main} id="main">
        <ConnectionNote />
        {inbox.overview?.sandbox && <p class="strip">Sandbox: no real sales</p>}
        {test && <p class="strip warn row">Test mode: lists show test leads only. Reports never contain test leads.</p>}
        <DriftNote page={location.hash} />
        {Page ? (
          <Page id={second} tab={third} query={route.query} />
        ) : (
          <>
            <h1 tabIndex={-1}>Not found</h1>
            <Empty title="There is no page at this address">
              Choose one from the menu, or go to <a href={to([])}>Home</a>.
            </Empty>
          </>
        )}
      </main>
      {over === 'palette' && <Palette close={() => show('')} />}
      {over === 'keys' && <Keyboard close={() => show('')} />}
    </div>
  );
}
