package main

import (
	"fmt"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// audit sees all logs at once. It adds up the sales of each cap and window and of each account, exactly,
// and compares with the limits after each event.
type audit struct {
	sim     *simulation
	windows map[windowKey]*windowAudit
	capOf   map[market.PermanentNumber]*resource // nil: the cap of a pair
	faults  []string
	overrun int64 // the largest amount above a limit

	onlySales bool // these are the sums from the logs, which leave out transfers
}

// maxFaults ends a run, because a broken protocol may never come to rest.
const maxFaults = 20

func newAudit(sim *simulation) *audit {
	a := &audit{sim: sim, windows: map[windowKey]*windowAudit{}, capOf: map[market.PermanentNumber]*resource{}}
	for _, r := range sim.market.resources {
		if r.limit != nil {
			a.capOf[r.limit.Ref] = r
		}
	}
	return a
}

func (a *audit) fault(format string, args ...any) {
	a.faults = append(a.faults, fmt.Sprintf(format, args...))
	a.sim.ended = a.sim.ended || len(a.faults) >= maxFaults
}

// addEvent counts a sale, a return of a lead, or a top-up that has become durable.
func (a *audit) addEvent(p *partition, e event.Event) {
	switch e := e.(type) {
	case *event.LeadDecided:
		if e.Sale.Buyer != 0 {
			a.move(p, e.Sale.Buyer, int64(e.Sale.Price), e.Sale.Charges, 1)
		}
	case *event.LeadStatusChangesDecided:
		back := &e.Changes[0].Return
		a.move(p, e.Buyer, int64(back.Credit), back.Charges, -1)
	case *event.BuyerFundsAdjusted:
		funds := a.sim.market.buyers[e.Buyer-1].funds()
		a.window(windowKey{resource: funds.index}).limit += int64(e.Amount)
	}
}

func (a *audit) move(p *partition, ref market.PermanentNumber, price int64, charges []event.CapCharge, sign int64) {
	for _, charge := range charges {
		if r := a.capOf[charge.Cap]; r != nil {
			a.add(p, r, charge.Window, sign*charge.Amount)
		} else {
			w := a.window(windowKey{-1, charge.Cap, charge.Window})
			w.sold += sign * charge.Amount
			a.compare("sales of ", nil, w.sold, w.limit)
		}
	}
	if funds := a.sim.market.buyers[ref-1].funds(); funds != nil {
		a.add(p, funds, 0, sign*price)
	}
}

func (a *audit) add(p *partition, r *resource, window, amount int64) {
	w := a.window(windowKey{resource: r.index, window: window})
	w.sold += amount
	if r.owner == p.id {
		w.possessed += amount
	} else {
		h := w.holder(p.id)
		h.sold += amount
		a.compareHolder(p, r, h)
	}
	a.compare("sales of ", r, w.sold, w.limit)
	a.compare("sales and grants of ", r, w.possessed, w.limit)
}

func (a *audit) compare(subject string, r *resource, used, limit int64) {
	if used > limit {
		a.overrun = max(a.overrun, used-limit)
		a.fault("%s%v: %d of %d", subject, r, used, limit)
	}
}

// compareHolder checks that a holder sells at most its grants. The second set of sums has no grants.
func (a *audit) compareHolder(p *partition, r *resource, h *holderAudit) {
	if !a.onlySales && h.sold > h.held() {
		a.fault("partition %d sold %d of its grants of %d of %v", p.id, h.sold, h.held(), r)
	}
}

// addTransfer counts an amount at its holder, when the holder's log has it.
func (a *audit) addTransfer(p *partition, t *transfer) {
	r := a.sim.market.resources[t.resource]
	if r.owner == p.id {
		return
	}
	w := a.window(windowKey{resource: r.index, window: t.window})
	h := w.holder(t.holder)
	w.possessed += t.held() - h.held()
	h.totals = t.totals
	a.compareHolder(p, r, h)
	a.compare("grants of ", r, w.possessed, w.limit)
}

// addRefusal counts a refused offer of a lead. If each lacking resource has enough left somewhere, the need of the
// lead is demand that a single counter would have served.
func (a *audit) addRefusal(p *partition, lacking []*resource, price market.Money) {
	a.sim.figures.refusals++
	enough := true
	for _, r := range lacking {
		w := a.window(windowKey{resource: r.index, window: p.windowOf(r)})
		enough = enough && w.limit-w.sold >= r.need(price)
	}
	for _, r := range lacking {
		w := a.window(windowKey{resource: r.index, window: p.windowOf(r)})
		w.refusals++
		if enough {
			w.refused += r.need(price)
			if w.least == 0 || r.need(price) < w.least {
				w.least = r.need(price)
			}
		}
	}
}

// addUpLogs decodes all logs and compares the sums with those of the run.
func (a *audit) addUpLogs() {
	again := newAudit(a.sim)
	again.onlySales = true
	for _, p := range a.sim.partitions {
		var decoder event.Decoder
		for _, entry := range p.durable {
			if entry.transfer != nil || len(entry.data) == 0 {
				continue
			}
			e, err := decoder.Decode(entry.data)
			if err != nil {
				a.fault("partition %d: %v", p.id, err)
				return
			}
			again.addEvent(p, e)
		}
	}
	for key, w := range again.windows {
		if w.sold != a.window(key).sold {
			a.fault("the logs add up to %d sold of %v, the run to %d", w.sold, key, a.window(key).sold)
		}
	}
}
