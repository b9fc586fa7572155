// The page's route, for example #/leads/lead_1/money?from=2026-11-01

export interface Route {
  path: string[]; // decoded, non-empty parts
  query: { [name: string]: string };
}

// PageOf is the part of a route that a page receives.
export interface PageOf {
  id: string; // the second part of the path, empty for a listing
  tab: string; // the third part
  query: Route['query'];
}

export function parse(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#/, '').split(/\?(.*)/s);
  const parts = path
    .split('/')
    .filter((part) => part !== '')
    .map(decoded);
  return { path: parts, query: Object.fromEntries(new URLSearchParams(query)) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a typed % that starts no escape
  }
}

// to returns the URL of a page. Empty values are left out of the query.
export function to(path: string[], query: { [name: string]: string | undefined | null } = {}): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value) pairs.set(name, value);
  }
  const text = pairs.toString();
  return `#/${path.map(encodeURIComponent).join('/')}${text ? `?${text}` : ''}`;
}

export function go(path: string[], query: { [name: string]: string | undefined | null } = {}): void {
  location.hash = to(path, query);
}

// moved lists the first parts of earlier addresses and their present places.
const moved: { [first: string]: string[] } = {
  unmatched: ['reports', 'unsold'],
  statements: ['reports', 'statements'],
  deliveries: ['review', 'deliveries'],
  returns: ['review', 'returns'],
  webhooks: ['review', 'events'],
  suppression: ['compliance', 'suppression'],
  erase: ['compliance', 'deletion'],
  bench: ['test'],
  history: ['settings', 'history'],
  access: ['settings', 'team'],
  alerts: ['settings', 'alerts'],
  system: ['settings', 'health'],
};

// redirect returns the present address of an earlier one, or null.
export function redirect({ path, query }: Route): string | null {
  const [first = '', second] = path;
  if (first === 'webhooks' && second) return to(['suppliers', second, 'webhooks'], query);
  if (first === 'reports' && !second && (query.by || query.measure)) return to(['reports', 'custom'], query);
  if (first === 'sign-in') return to([]);
  const place = moved[first];
  return place ? to([...place, ...path.slice(1)], query) : null;
}

// placeOf returns the page for an id, or null if the id's form is unknown.
export function placeOf(id: string): string | null {
  const text = id.trim();
  if (/^lead_/.test(text)) return to(['leads', text]);
  if (/^(auc|ping|req)_/.test(text)) return to(['auctions', text]);
  return null;
}
