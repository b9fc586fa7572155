// The time zone of a new buyer or campaign.

import type { Doc } from '../types';
import { workspace } from '../workspace';

// withExchangeZone returns a new entry's document with the time zone of the exchange, so that its days,
// for example those of daily caps, begin when the console's days begin. Without the key, an entry has UTC.
export function withExchangeZone(document: Doc, zone = workspace().exchangeZone): Doc {
  return zone === 'UTC' ? document : { ...document, time_zone: zone };
}
