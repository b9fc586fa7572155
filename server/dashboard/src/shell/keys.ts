import { useEffect } from 'preact/hooks';
import { go } from '../route';
import { areas } from './places';

const typing = (at: EventTarget | null): boolean =>
  at instanceof HTMLElement && at.closest('input:not([type="checkbox"], [type="radio"]), select, textarea') !== null;

// useKeys handles the shortcuts of all pages. They do nothing while the user types or a dialog
// is open.
export function useKeys(show: (what: 'palette' | 'keys') => void): void {
  useEffect(() => {
    let leader = Number.NEGATIVE_INFINITY; // when g was pressed
    const press = (e: KeyboardEvent) => {
      if (document.querySelector('dialog[open]')) return;
      if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === 'k') {
        e.preventDefault();
        show('palette');
        return;
      }
      if (typing(e.target) || e.ctrlKey || e.metaKey || e.altKey) return;
      if (e.timeStamp - leader < 1500) {
        leader = Number.NEGATIVE_INFINITY;
        const area = areas.find((a) => a.key === e.key);
        if (area) go(area.path ? [area.path] : []);
        return;
      }
      if (e.key === 'g') leader = e.timeStamp;
      if (e.key === '?') show('keys');
      if (e.key !== '/') return;
      e.preventDefault();
      const search = document.querySelector<HTMLElement>('#main input[type="search"]');
      if (search) search.focus();
      else show('palette');
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}
