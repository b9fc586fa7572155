package public

import (
	"time"

	"pingpost/engine/market"
)

// leadRate is how many requests about existing leads a supplier or buyer may send per second:
// lookups and status reports. A batch of reports counts as one.
const leadRate = 100

// leadLookupAndReportLimits holds the token buckets for requests about existing leads: lookups of leads,
// sold or unsold, and status reports. Suppliers and buyers are numbered separately, so each have
// their own.
type leadLookupAndReportLimits struct{ suppliers, buyers tokenBucketsByOwner }

// limitOwnersInCatalog gives each supplier and buyer of the catalog a bucket with the same rate,
// leadRate, and drops the buckets of those that are no longer in it.
func (l *leadLookupAndReportLimits) limitOwnersInCatalog(catalog *market.Catalog, now time.Time) {
	suppliers := make(map[market.PermanentNumber]int, len(catalog.Suppliers))
	for _, supplier := range catalog.Suppliers {
		suppliers[supplier.Ref] = leadRate
	}
	buyers := make(map[market.PermanentNumber]int, len(catalog.Buyers))
	for _, buyer := range catalog.Buyers {
		buyers[buyer.Ref] = leadRate
	}
	l.suppliers.setBucketRates(suppliers, now)
	l.buyers.setBucketRates(buyers, now)
}
