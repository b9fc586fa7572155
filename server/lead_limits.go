package server

import (
	"time"

	"pingpost/engine/market"
)

// leadRate is how many requests a second about leads that are sold one supplier or
// buyer may make: looks, and reports of one or of many.
const leadRate = 100

// leadLimits are the token buckets of those requests. Suppliers and buyers are
// numbered apart.
type leadLimits struct{ suppliers, buyers limits }

func (l *leadLimits) configure(catalog *market.Catalog, now time.Time) {
	suppliers := make(map[market.Ref]int, len(catalog.Suppliers))
	for _, supplier := range catalog.Suppliers {
		suppliers[supplier.Ref] = leadRate
	}
	buyers := make(map[market.Ref]int, len(catalog.Buyers))
	for _, buyer := range catalog.Buyers {
		buyers[buyer.Ref] = leadRate
	}
	l.suppliers.set(suppliers, now)
	l.buyers.set(buyers, now)
}
