// The choices of the header that apply to all pages: period, time zone, live or test leads.
// The browser keeps them.

import { useEffect, useState } from 'preact/hooks';
import { showIn } from './format';
import { daysOf, isZone, type Period } from './period';

export interface Workspace {
  preset: string; // empty for own days
  from: string;
  to: string;
  zone: string; // ownZone, or else exchangeZone
  ownZone: string; // the user's choice; empty without one
  exchangeZone: string; // the last known one, so that a page starts with it
  test: boolean;
}

const key = 'pingpost-workspace';
const start: Workspace = {
  preset: 'today',
  from: '',
  to: '',
  zone: 'UTC',
  ownZone: '',
  exchangeZone: 'UTC',
  test: false,
};

let current = kept();
showIn(current.zone);

function kept(): Workspace {
  try {
    const found = { ...start, ...(JSON.parse(localStorage.getItem(key) ?? '{}') as Partial<Workspace>) };
    return zoned(found);
  } catch {
    return start; // local storage may be disabled
  }
}

// zoned sets the time zone in force. A browser may not know the zone of the exchange.
function zoned(of: Workspace): Workspace {
  return { ...of, zone: [of.ownZone, of.exchangeZone].find((z) => z && isZone(z)) ?? 'UTC' };
}

export const workspace = (): Workspace => current;

export function choose(part: Partial<Workspace>): void {
  current = zoned({ ...current, ...part });
  showIn(current.zone);
  try {
    localStorage.setItem(key, JSON.stringify(current));
  } catch {
    // Without storage, the choice applies until the page is closed.
  }
  dispatchEvent(new Event('workspace'));
}

export function useWorkspace(): Workspace {
  const [state, set] = useState(current);
  useEffect(() => {
    const follow = () => set(current);
    addEventListener('workspace', follow);
    return () => removeEventListener('workspace', follow);
  }, []);
  return state;
}

const isDay = (text: string | undefined): text is string => /^\d{4}-\d\d-\d\d$/.test(text ?? '');

// applied returns the choices in force on a page: the period of its address, or else that of the
// header.
export function applied(of: Workspace, query: { [name: string]: string } = {}): Workspace {
  if (isDay(query.from) || isDay(query.to)) {
    const from = isDay(query.from) ? query.from : (query.to as string);
    return { ...of, preset: '', from, to: isDay(query.to) ? query.to : from };
  }
  return query.preset ? { ...of, preset: query.preset } : of;
}

// periodOf returns the days of an address, or else those of the header.
export function periodOf(of: Workspace, query: { [name: string]: string } = {}): Period {
  const { preset, from, to, zone } = applied(of, query);
  if (preset === '' && isDay(from) && isDay(to)) return { from, to };
  return daysOf(preset, zone, new Date());
}
