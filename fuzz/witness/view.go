package witness

import (
	"slices"

	"pingpost/engine/market"
)

// view is what whoever looks at a lead may be shown of it.
type view struct {
	status, delivery, reason string
	buyer                    string       // empty: nobody has it, or is being sent it
	owner                    string       // the buyer that may look at it
	price                    market.Money // that the buyer pays; shown where it is sold
	back                     asked        // its return
	erased                   bool
}

// viewAt is one that came with an entry, and was to be seen until the next one.
type viewAt struct {
	view
	seq uint64
}

// priced tells whether the price is shown: it is while the lead is sold.
func (v *view) priced() bool { return v.status != "UNMATCHED" && v.status != "OPEN" }

// view is how the lead is to be seen where it stands.
func (e *entry) view() view {
	v := view{status: "ACCEPTED", buyer: e.buyer, owner: e.buyer, price: e.price, back: e.asked, erased: e.erased}
	switch e.standing {
	case unsold:
		v.status, v.delivery, v.reason = "UNMATCHED", "none", e.reason
		if e.last != "" {
			v.delivery = map[string]string{"released": "released"}[e.settlement]
			if v.delivery == "" {
				v.delivery = "failed"
			}
		}
		if e.promised {
			v.owner = e.last // which was told of it, and may ask what became of it
		}
	case recorded:
		v.delivery = "none"
	case open:
		v.status, v.delivery = "OPEN", "pending"
	case pending:
		v.delivery = "pending"
	case delivered:
		v.delivery = e.settlement
	case uncertain:
		v.delivery = "unknown"
	}
	if n := len(e.became); n > 0 {
		v.status = e.became[n-1]
	}
	if e.returned() {
		v.back = approved
	}
	return v
}

// see notes how the leads of a fact are to be seen after it.
func (b *book) see(f *fact) {
	touched := slices.Clone(f.Leads)
	if f.Lead != "" {
		touched = append(touched, f.Lead)
	}
	for i := range f.Changes {
		touched = append(touched, f.Changes[i].Lead)
	}
	for _, id := range touched {
		e := b.leads[id]
		if e == nil {
			continue
		}
		v := e.view()
		if n := len(e.views); n == 0 || e.views[n-1].view != v {
			e.views = append(e.views, viewAt{v, b.seq})
		}
	}
}

// since are the views that can have been seen after an entry, up to the log's end.
func (e *entry) since(seq uint64) (some []viewAt) {
	for i := range e.views {
		if i+1 == len(e.views) || e.views[i+1].seq > seq {
			some = append(some, e.views[i])
		}
	}
	return some
}

// first is the entry by which a lead was first seen in some way; 0: it never was.
func (e *entry) first(is func(v *view) bool) uint64 {
	for i := range e.views {
		if is(&e.views[i].view) {
			return e.views[i].seq
		}
	}
	return 0
}
