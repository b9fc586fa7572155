package main

import (
	"cmp"
	"fmt"
	"slices"

	"pingpost/engine/market"
)

// windowKey is a cap and a window, or the funds of a resource.
type windowKey struct {
	resource int // minus one: the cap of a pair
	pair     market.PermanentNumber
	window   int64
}

// windowAudit is the use of one resource in one window by all partitions.
type windowAudit struct {
	limit     int64
	sold      int64
	possessed int64 // held by all holders, and sold by the owner
	holders   map[int]*holderAudit
	refused   int64 // needs of leads that were refused although the resource had enough left
	least     int64 // the smallest of these needs
	refusals  int64
}

// holderAudit is the part of one holder.
type holderAudit struct {
	totals
	sold int64
}

func (w *windowAudit) holder(id int) *holderAudit {
	h := w.holders[id]
	if h == nil {
		h = new(holderAudit)
		w.holders[id] = h
	}
	return h
}

func (a *audit) window(key windowKey) *windowAudit {
	w := a.windows[key]
	if w == nil {
		w = &windowAudit{holders: map[int]*holderAudit{}}
		switch {
		case key.resource < 0:
			w.limit = a.sim.market.caps[key.pair-1].Limit
		case a.sim.market.resources[key.resource].limit != nil:
			w.limit = a.sim.market.resources[key.resource].limit.Limit
		default:
			w.limit = int64(a.sim.market.resources[key.resource].buyer.Credit)
		}
		a.windows[key] = w
	}
	return w
}

// sortedWindows returns the windows of shared resources in a fixed order.
func (a *audit) sortedWindows() (keys []windowKey) {
	for key := range a.windows {
		if key.resource >= 0 {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(x, y windowKey) int {
		return cmp.Or(cmp.Compare(x.resource, y.resource), cmp.Compare(x.window, y.window))
	})
	return keys
}

func (r *resource) String() string {
	switch {
	case r == nil:
		return "the cap of a pair"
	case r.limit == nil:
		return fmt.Sprintf("the funds of buyer %d", r.buyer.Ref)
	}
	return fmt.Sprintf("the %s cap per %s of buyer %d", r.limit.Unit, r.limit.Period, r.buyer.Ref)
}
