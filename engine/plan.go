package engine

import (
	"sync/atomic"

	"pingpost/engine/market"
	"pingpost/engine/route"
)

// plan is a catalog with all that is computed from it. Immutable but for the
// doors, which are replaced as facts and hours change; a request uses one plan
// from beginning to end.
type plan struct {
	catalog   *market.Catalog
	campaigns map[market.CampaignID]*open
	tables    map[market.Ref]*market.Table // of suppression lists, by the list's number
}

// open is a campaign ready for leads.
type open struct {
	*route.Lineup
	doors atomic.Pointer[route.Doors]
}

func newPlan(catalog *market.Catalog, tables map[market.Ref]*market.Table) *plan {
	p := &plan{
		catalog: catalog, tables: tables,
		campaigns: make(map[market.CampaignID]*open, len(catalog.Campaigns)),
	}
	for id, campaign := range catalog.Campaigns {
		p.campaigns[id] = &open{Lineup: route.Compile(campaign)}
	}
	return p
}

// Catalog is the configuration in force, or nil.
func (e *Engine) Catalog() *market.Catalog {
	if p := e.plan.Load(); p != nil {
		return p.catalog
	}
	return nil
}
