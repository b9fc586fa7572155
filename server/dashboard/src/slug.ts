// slug proposes an id for a name, for example sup_acme_leads.
export function slug(prefix: string, name: string): string {
  const text = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 50);
  return text ? `${prefix}${text}` : '';
}
