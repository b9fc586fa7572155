// Where in the page one is: #/leads/lead_1?tab=posts

export interface Route {
  path: string[]; // decoded parts, none empty
  query: { [name: string]: string };
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
    return part; // a lone % that somebody typed
  }
}

// to is the address of a place. What is empty is left out of the query.
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

// placeOf is where what an id names is shown; null: its form says nothing.
export function placeOf(id: string): string | null {
  const text = id.trim();
  if (/^lead_/.test(text)) return to(['leads', text]);
  if (/^(auc|ping|req)_/.test(text)) return to(['auctions', text]);
  return null;
}
