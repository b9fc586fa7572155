package witness

import "slices"

// pause is a stretch of the log in which a buyer was paused, with nothing under way that
// was decided before.
type pause struct {
	buyer       string
	after, upTo uint64 // entries
}

// saleAt is when the log sold a lead to whom.
type saleAt struct {
	seq   uint64
	buyer string
}

// kept: nobody was sold a lead while it was paused.
func (p *Picture) kept() (found findings) {
	for _, shut := range p.pauses {
		if i := slices.IndexFunc(p.book.sales, func(s saleAt) bool {
			return s.buyer == shut.buyer && s.seq > shut.after && s.seq <= shut.upTo
		}); i >= 0 {
			found.add("%s was paused, acknowledged, and entry %d sells it a lead", shut.buyer, p.book.sales[i].seq)
		}
	}
	return found
}
