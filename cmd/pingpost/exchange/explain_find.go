package exchange

import (
	"fmt"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/server"
)

// lead finds a lead by memory's row of it, else by its time.
func (e *explainer) lead(id market.LeadID) (*Explanation, error) {
	found, err := e.decision(id)
	if err != nil {
		return nil, err
	}
	return e.explain(found)
}

func (e *explainer) decision(id market.LeadID) (*entry, error) {
	if row, ok := e.state.Lead(id); ok {
		return e.at(row.Seq)
	}
	return e.search(id, noSuchID, func(fact event.Event) bool {
		lead, ok := fact.(*event.LeadDecided)
		return ok && lead.Lead == id
	})
}

// auction finds an auction by its time: memory knows its name alone.
func (e *explainer) auction(id market.AuctionID) (*Explanation, error) {
	found, err := e.search(id, noSuchID, func(fact event.Event) bool {
		switch fact := fact.(type) {
		case *event.AuctionHeld:
			return fact.Auction == id
		case *event.LeadDecided:
			return fact.Auction.ID == id
		}
		return false
	})
	if err != nil {
		return nil, err
	}
	return e.explain(found)
}

// What is said where a search was in vain.
const (
	noSuchID      = "the log's history has no lead and no auction of this id"
	noSuchRequest = "the log's history has nothing that this request decided; what is refused before anything is decided, " +
		"and what repeats a request that was answered before, is not recorded"
)

// request finds what a call was the first to have decided.
func (e *explainer) request(id market.RequestID) (*Explanation, error) {
	found, err := e.search(id, noSuchRequest, func(fact event.Event) bool {
		switch fact := fact.(type) {
		case *event.AuctionHeld:
			return fact.Request == id
		case *event.LeadDecided:
			return fact.Request == id
		case *event.StatusChanged:
			return fact.Request == id
		}
		return false
	})
	if err != nil {
		return nil, err
	}
	if report, ok := found.fact.(*event.StatusChanged); ok {
		return e.reported(report)
	}
	return e.explain(found)
}

// reported tells of the lead that a report was about; of many, of the first that it
// knows.
func (e *explainer) reported(report *event.StatusChanged) (*Explanation, error) {
	for i := range report.Changes {
		if change := &report.Changes[i]; !change.Lead.IsZero() && change.Result != event.ChangeUnknown {
			return e.lead(change.Lead)
		}
	}
	return nil, notFound("the request reported of leads that its sender has not")
}

// sellers finds an auction by the id that its seller gave it. Memory has it by its
// name, for as long as that cannot be used again; what is older is looked for from
// the log's beginning on, unless it only might be a seller's.
func (e *explainer) sellers(supplier, theirs string) (*Explanation, error) {
	first, last := market.Ref(1), market.Ref(e.state.Names(event.NameSupplier))
	if supplier != "" {
		first = e.state.RefOf(event.NameSupplier, supplier)
		if last = first; first == 0 {
			return nil, notFound(fmt.Sprintf("no supplier %q was ever configured", supplier))
		}
	}
	var found []*entry
	for ref := first; ref <= last; ref++ {
		if seq := e.remembered(ref, theirs); seq != 0 {
			held, err := e.at(seq)
			if err != nil {
				return nil, err
			}
			found = append(found, held)
		}
	}
	if len(found) == 0 && supplier == "" && isOurs(theirs) {
		return nil, notFound(noSuchID)
	}
	if len(found) == 0 {
		var err error
		if found, err = e.forgotten(first, last, theirs); err != nil {
			return nil, err
		}
	}
	return e.only(found)
}

// remembered is a supplier's auction of an id that memory has: the one in earnest, and
// else one that was tried out under it, by its entry; 0: it has neither.
func (e *explainer) remembered(supplier market.Ref, theirs string) (seq uint64) {
	for _, test := range []bool{false, true} {
		if row, ok := e.state.Auction(e.named(supplier, theirs, test), 0); ok {
			return row.Seq
		}
	}
	return 0
}

// isOurs tells whether an id has the form of those that an exchange makes; one that
// sells here gives its auctions such.
func isOurs(id string) bool {
	_, lead := market.ParseLeadID(id)
	_, auction := market.ParseAuctionID(id)
	_, ping := market.ParsePingID(id)
	_, request := market.ParseRequestID(id)
	return lead || auction || ping || request
}

// forgotten looks through the log for auctions whose names memory has forgotten:
// of each supplier the first.
func (e *explainer) forgotten(first, last market.Ref, theirs string) (found []*entry, err error) {
	seen := make(map[market.Ref]bool)
	truncated, err := e.each([]byte(theirs), nil, 0, forEver, func(has *entry) bool {
		held, ok := has.fact.(*event.AuctionHeld)
		if ok && held.Theirs == theirs && held.Supplier >= first && held.Supplier <= last && !seen[held.Supplier] {
			seen[held.Supplier] = true
			found = append(found, has)
		}
		return first != last || len(found) == 0
	})
	switch {
	case err != nil || len(found) > 0:
		return found, err
	case truncated:
		return nil, notFound("it is neither in memory nor among what the log holds first, and the search ends there")
	}
	return nil, notFound("the log's history has no lead, auction, ping or request of this id, and no auction to which a seller gave this id")
}

// only is the one auction that is meant.
func (e *explainer) only(found []*entry) (*Explanation, error) {
	if len(found) == 1 {
		return e.explain(found[0])
	}
	names := make([]string, 0, len(found))
	for _, one := range found {
		names = append(names, e.state.NameOf(event.NameSupplier, one.held().Supplier))
	}
	return nil, &server.SeveralSuppliers{Names: names}
}

// explain tells all of what a decision belongs to.
func (e *explainer) explain(found *entry) (*Explanation, error) {
	if _, ok := found.fact.(*event.AuctionHeld); ok {
		return e.explainAuction(found)
	}
	told, err := e.tellLead(found)
	if err != nil {
		return nil, err
	}
	if name := e.cameFor(found.lead()); name != [16]byte{} {
		if told.Auction, err = e.earlier(name, found); err != nil {
			return nil, err
		}
		if told.Auction != nil {
			told.AuctionID = told.Auction.AuctionID
		}
	}
	e.discreet(found, told)
	return told, nil
}

// explainAuction tells of an auction and of the leads that took up what it offered.
func (e *explainer) explainAuction(found *entry) (*Explanation, error) {
	told := e.tellAuction(found)
	claimants, truncated, err := e.claimants(found)
	if err != nil {
		return nil, err
	}
	told.Truncated = truncated
	for _, claimant := range claimants {
		e.discreet(claimant.decided, claimant.told, told)
		told.Leads = append(told.Leads, claimant.told)
	}
	e.take(told, found.held(), claimants)
	return told, nil
}

// cameFor is the name of the auction whose bid a lead was to be sold at; zero where
// there is none, or it left no word of it.
func (e *explainer) cameFor(lead *event.LeadDecided) [16]byte {
	if lead.Sale.Ping == [16]byte{} && lead.Theirs != "" {
		return e.named(lead.Supplier, lead.Theirs, lead.Sale.Test)
	}
	return lead.Sale.Ping
}

// earlier is the ping whose bid a lead was sold at; nil where history no longer
// has it.
func (e *explainer) earlier(name [16]byte, sold *entry) (*Explanation, error) {
	decided := sold.lead()
	row, ok := e.state.Auction(name, decided.Decided)
	var found *entry
	var err error
	switch {
	case ok:
		found, err = e.at(row.Seq)
	case decided.Post.Auction.IsZero():
		return nil, nil //nolint:nilnil // as below
	default:
		found, err = e.search(decided.Post.Auction, noSuchID, func(fact event.Event) bool {
			held, ok := fact.(*event.AuctionHeld)
			return ok && held.Name == name
		})
	}
	if isGone(err) {
		return nil, nil //nolint:nilnil // the lead is told of without it
	}
	if err != nil {
		return nil, err
	}
	told := e.tellAuction(found)
	claimants, truncated, err := e.claimants(found)
	if err != nil {
		return nil, err
	}
	told.Truncated = truncated
	e.take(told, found.held(), claimants)
	return told, nil
}

func notFound(what string) error {
	return fmt.Errorf("%w: %s", engine.ErrNotFound, what)
}
