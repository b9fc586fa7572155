// The addresses of the console's pages.

import { place } from './page';

// Every page, and what it must show.
export const pages: [string, string | RegExp][] = [
  ['', 'Hourly revenue'],
  ['leads', 'Winning buyer'],
  [`leads/${place.sold}`, 'buy_picky'],
  [`leads/${place.unmatched}/summary`, 'Unsold'],
  [`leads/${place.auctioned}/auction`, 'Timeline'],
  [`leads/${place.auctioned}/data`, 'Lead data'],
  [`leads/${place.auctioned}/requests`, 'Event log'],
  [`leads/${place.auctioned}/money`, 'Buyer pays'],
  ['auctions', 'Pinged'],
  [`auctions/${place.auction}`, 'Timeline'],
  [`auctions/${place.auction}/summary`, 'Winning buyer'],
  [`auctions/${place.auction}/auction`, 'Timeline'],
  [`auctions/${place.auction}/data`, 'Lead data'],
  [`auctions/${place.auction}/requests`, 'Event log'],
  [`auctions/${place.auction}/money`, 'Buyer pays'],
  [`leads/${place.auctioned}/audit`, 'Audit log of this lead'],
  ['find', 'Phone or email'],
  ['test', 'Generate sample'],
  ['campaigns', 'cmp_bids'],
  ['campaigns/cmp_auto', 'How it works'],
  ['campaigns/cmp_bids/fields', 'vehicle_count'],
  ['campaigns/cmp_auto/buyers', 'buy_vault'],
  ['campaigns/cmp_auto/rules', 'exchange.yaml'],
  ['campaigns/cmp_auto/caps', 'leads per day'],
  ['campaigns/cmp_auto/returns', 'wrong number'],
  ['campaigns/cmp_bids/instructions', 'Download PDF'],
  ['campaigns/cmp_auto/settings', 'version'],
  ['campaigns/+', 'Next'],
  ['caps', 'leads per day'],
  ['buyers', 'Accept rate'],
  ['buyers/buy_vault', 'Balance'],
  ['buyers/buy_odd/delivery', 'Adapter'],
  ['buyers/buy_picky/targeting', 'CA, TX'],
  ['buyers/buy_picky/caps', 'leads per day'],
  ['buyers/buy_vault/billing', 'Add funds'],
  ['buyers/buy_picky/access', 'Buyer credentials'],
  ['buyers/buy_picky/settings', 'History'],
  ['buyers/+', 'Review changes'],
  ['suppliers', 'Zenith'],
  ['suppliers/sup_acme', 'EPL'],
  ['suppliers/sup_acme/sources', 'partner'],
  ['suppliers/sup_acme/instructions', 'Answers and errors'],
  ['suppliers/sup_acme/keys', 'Rotate the key'],
  ['suppliers/sup_acme/webhooks', 'Signing secrets'],
  ['suppliers/sup_acme/payouts', 'Payout per sale'],
  ['suppliers/sup_acme/settings', 'History'],
  ['suppliers/+', 'Create supplier and API key'],
  ['review/returns', 'wrong number'],
  ['review/deliveries', 'Confirm sale'],
  ['review/events', 'Acme Leads'],
  ['reports/revenue', 'Payout reversal'],
  ['reports/buyers', 'Swift'],
  ['reports/sources', 'partner'],
  ['reports/unsold', 'Bid outcomes'],
  ['reports/statements?buyer=buy_vault', 'Entries'],
  ['reports/custom?by=buyer&measure=bids', 'Swift'],
  ['reports/saved', 'No saved reports'],
  ['compliance/suppression', 'dnc'],
  ['compliance/suppression/dnc', 'Upload'],
  ['compliance/suppression/+', 'Review changes'],
  ['compliance/consent', 'optional'],
  ['compliance/deletion', 'Review'],
  ['settings/team', 'Add user'],
  ['settings/account', 'shared password'],
  ['settings/alerts', 'Add channel'],
  ['settings/audit', 'Export CSV'],
  ['settings/tokens', 'Create API token'],
  ['settings/history', 'version'],
  ['settings/backups', 'behind'],
  ['settings/cluster', 'single node'],
  ['settings/health', 'Log commit'],
  ['nowhere', 'no page at this address'],
  ['buyers/buy_none', 'No such buyer'],
];

// shownBy lists the addresses that show the same as another one.
const shownBy: { [address: string]: string } = {
  review: 'review/returns',
  reports: 'reports/revenue',
  compliance: 'compliance/suppression',
  settings: 'settings/team',
};

// pageOf returns the page of an address: without its parameters, and with * for an id.
export function pageOf(address: string): string {
  const parts = address.replace(/^#?\//, '').replace(/\?.*/, '').split('/');
  const at =
    parts[0] === 'compliance' ? 2 : ['review', 'reports', 'settings'].includes(parts[0] ?? '') ? parts.length : 1;
  const page = parts.map((part, i) => (i === at && part !== '+' ? '*' : part)).join('/');
  return shownBy[page] ?? page;
}
