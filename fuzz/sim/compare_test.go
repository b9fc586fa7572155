package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/ledger"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// compareWebhooks compares the webhooks sent since the last call.
func (p *play) compareWebhooks() string {
	x, m := p.x, p.m
	x.world.mu.Lock()
	wrong, tells := x.world.wrong, x.world.told
	x.world.told = nil
	x.world.mu.Unlock()
	if len(wrong) > 0 {
		return wrong[0]
	}
	for _, t := range tells {
		label := x.labels[t.lead]
		if fault := m.checkWebhookAttempt(label, t.kind, t.at, t.heard); fault != "" {
			return fmt.Sprintf("webhook %s of %s was sent at %s: %s", t.kind, label, time.Unix(0, t.at).UTC().Format(time.RFC3339Nano), fault)
		}
	}
	if e := m.overdue(); e != nil {
		return fmt.Sprintf("webhook %s of %s is overdue since %s", e.kind, e.lead, time.Unix(0, m.latest(e)).UTC().Format(time.RFC3339Nano))
	}
	return ""
}

// compareVisible compares the visible state after each step: money, open and recent leads, webhooks, and
// forbidden actions.
func (p *play) compareVisible() string {
	x, m := p.x, p.m
	if fault := p.compareWebhooks(); fault != "" {
		return fault
	}
	if n := x.state.ReservationCount(); n != 0 {
		return fmt.Sprintf("%d reservations are out while nothing is decided", n)
	}
	m.posted = slices.DeleteFunc(m.posted, func(l *lead) bool {
		return l.status != "open" && l.delivery != "pending" && l.delivery != "unknown"
	})
	for buyer, funds := range m.funds {
		held := int64(0)
		for _, l := range m.posted {
			if l.buyer == buyer {
				held += l.price
			}
		}
		balance, holds := x.state.BuyerBalance(x.state.RefOf(event.ObjectBuyer, buyer))
		if int64(balance) != funds+held || int64(holds) != held {
			return fmt.Sprintf("%s has %s, of which %s is held; by the model %s, of which %s", buyer, balance, holds, amount(funds+held), amount(held))
		}
	}
	if fault := p.checkErasedKeys(); fault != "" {
		return fault
	}
	for _, d := range m.deliveries {
		if fault := p.compareLead(x.state, d.lead); fault != "" {
			return fault
		}
	}
	return ""
}

// compareLead compares the status of a lead.
func (p *play) compareLead(s *state.State, l *lead) string {
	row, ok, err := s.Lead(p.x.ids[l.label])
	switch {
	case err != nil:
		return err.Error()
	case !ok:
		return fmt.Sprintf("lead %s is forgotten", l.label)
	case l.status == "open":
		return ""
	}
	status := l.status
	if row.Status.String() != status || row.Delivery.String() != l.delivery {
		return fmt.Sprintf("lead %s is %s, its delivery %s; by the model %s, %s", l.label, row.Status, row.Delivery, status, l.delivery)
	}
	if status == "UNMATCHED" && row.Reason.String() != l.reason {
		return fmt.Sprintf("lead %s is unmatched for %s; by the model %s", l.label, row.Reason, l.reason)
	}
	if buyer := s.NameOf(event.ObjectBuyer, row.Buyer); status != "UNMATCHED" && (buyer != l.buyer || int64(row.Price) != l.price || int64(row.Payout) != l.payout) {
		return fmt.Sprintf("lead %s is %s's at %s for %s; by the model %s's at %s for %s", l.label, buyer, row.Price, row.Payout, l.buyer, amount(l.price), amount(l.payout))
	}
	return ""
}

// audit compares everything in a state built from the log alone, so that the reads do not
// affect later steps: leads, caps and statements.
func (p *play) audit() string {
	whole, err := p.x.replayed(false)
	if err != nil {
		return err.Error()
	}
	seq, live := p.x.state.Hash()
	if again, replay := whole.Hash(); !closed(p.x.dead) && (seq != again || live != replay) {
		return fmt.Sprintf("the live state is %x at %d, the replayed one %x at %d", live, seq, replay, again)
	}
	if fault := failed(p.x.scan()); fault != "" {
		return fault
	}
	for _, l := range p.m.leads {
		if p.m.now-l.received < memoryOf {
			fault := p.compareLead(whole, l)
			if fault == "" && !closed(p.x.dead) {
				fault = p.compareLead(p.x.state, l)
			}
			if fault != "" {
				return fault
			}
		}
	}
	if fault := cmp.Or(p.auditCaps(whole), failed(p.x.state.CheckColdRows())); fault != "" {
		return fault
	}
	if !closed(p.x.dead) { // otherwise the next start may still drop some keys
		for _, audit := range []func() string{p.auditPersons, p.auditLookups} {
			if fault := audit(); fault != "" {
				return fault
			}
		}
	}
	return p.auditStatements(whole)
}

// auditCaps determines the use of each cap in the current window: the smallest limit without a
// free place, and the largest with one.
func (p *play) auditCaps(whole *state.State) string {
	for _, seat := range p.m.terms.lineup("") {
		for _, c := range p.m.capsOver(seat, p.m.now) {
			used := p.m.used[c.name+" "+windowOf(c.period, c.zone, p.m.now)]
			limit := p.capOf(c, seat)
			if limit == nil {
				continue
			}
			probe := *limit
			probe.Limit = used
			full, _ := whole.IsCapFull(&probe, 1, p.m.now)
			probe.Limit = used + 1
			room, _ := whole.IsCapFull(&probe, 1, p.m.now)
			if !full || room {
				return fmt.Sprintf("cap %s: by the model %d are taken of it in this window; by the exchange that is full: %v, and one more is: %v", c.name, used, full, room)
			}
		}
	}
	return ""
}

// capOf returns the engine's cap for one of the model's.
func (p *play) capOf(c namedCap, seat line) *market.Cap {
	catalog := p.x.engine.ActiveCatalogOrNil()
	campaign, buyer := catalog.Campaigns[market.CampaignID(seat.at(0))], catalog.Buyers[market.BuyerID(seat.at(1))]
	if campaign == nil || buyer == nil {
		return nil
	}
	all := append(append([]*market.Cap{}, campaign.Caps...), buyer.Caps...)
	for i := range campaign.FilterSets {
		if campaign.FilterSets[i].Buyer.ID == buyer.ID && campaign.FilterSets[i].ID == seat.at(2) {
			all = append(all, campaign.FilterSets[i].Caps...)
		}
	}
	scopes := map[market.CapScope]string{market.ScopeCampaign: "campaign", market.ScopeBuyer: "buyer", market.ScopePair: "seat"}
	units := map[market.CapUnit]string{market.UnitCount: "count", market.UnitMoney: "money"}
	for _, limit := range all {
		zone := zoneOf(c.zone).String()
		if strings.HasPrefix(c.name, scopes[limit.Scope]+" ") && units[limit.Unit] == c.unit && limit.Period.String() == c.period && limit.Zone.String() == zone {
			return limit
		}
	}
	return nil
}

// auditStatements compares each party's statement over the whole history with the model.
func (p *play) auditStatements(whole *state.State) string {
	statements, err := p.statements(whole, ledger.Period{From: p.first.Add(-time.Hour).UnixNano(), To: time.Now().Add(time.Hour).UnixNano()})
	if err != nil {
		return err.Error()
	}
	kinds := map[ledger.EntryKind]string{
		ledger.EntryOpening: "opening", ledger.EntryTopUp: "top-up", ledger.EntrySale: "sale", ledger.EntryReturn: "return", ledger.EntryReversal: "reversal",
	}
	for _, parties := range []map[string]line{p.m.terms.buyers, p.m.terms.suppliers} {
		for name, l := range parties {
			if l.verb == "buyer" && !l.has("funds") {
				continue
			}
			sums := map[string]int64{}
			if sum := statements[name]; sum != nil {
				for _, total := range sum.Totals {
					sums[kinds[total.Kind]] += int64(total.Amount)
				}
			}
			for _, word := range kinds {
				if sums[word] != p.m.ledger[name+" "+word] {
					return fmt.Sprintf("the statement of %s has %s of %s; by the model %s", name, amount(sums[word]), word, amount(p.m.ledger[name+" "+word]))
				}
			}
		}
	}
	return ""
}

// statements returns the statements of all parties by name, from one pass over the log.
func (p *play) statements(whole *state.State, period ledger.Period) (map[string]*ledger.Statement, error) {
	tallies, statements := map[string]*ledger.StatementBuilder{}, map[string]*ledger.Statement{}
	for _, kind := range []event.ConfigObjectKind{event.ObjectBuyer, event.ObjectSupplier} {
		for n := range whole.CountPermanentNumbers(kind) {
			party, account := ledger.Party{Kind: kind, Ref: market.PermanentNumber(n + 1)}, whole.AppliedBuyerFunds(0)
			if party.IsBuyer() {
				account = whole.AppliedBuyerFunds(party.Ref)
			}
			tallies[whole.NameOf(kind, party.Ref)] = ledger.NewStatementBuilder(party, period, account)
		}
	}
	for i, e := range p.x.disk.all() {
		fact, err := p.x.decoder.Decode(e.data)
		if err != nil {
			return nil, err
		}
		for _, tally := range tallies {
			tally.AddEvent(uint64(i+1), e.at, fact)
		}
	}
	for name, tally := range tallies {
		statements[name] = tally.BuildStatement()
	}
	return statements, nil
}
