package public

import (
	"time"

	"pingpost/engine/market"
)

// leadRate is how many requests about sold leads a supplier or buyer may send per second:
// lookups and reports, single or in batches.
const leadRate = 100

// leadRequestLimits holds the token buckets for requests about sold leads: lookups and status reports.
// Suppliers and buyers are numbered separately, so each have their own.
type leadRequestLimits struct{ suppliers, buyers tokenBucketsByOwner }

func (l *leadRequestLimits) setRatesFromCatalog(catalog *market.Catalog, now time.Time) {
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
