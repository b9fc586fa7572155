package explain

import (
	"fmt"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/server/admin"
)

// Lead explains a lead. The error is engine.ErrNotFound if the log's history does not
// have it.
func (e *Explainer) Lead(id market.LeadID) (*Explanation, error) {
	found, err := e.decision(id)
	if err != nil {
		return nil, err
	}
	return e.explain(found)
}

// Decision returns the event that decided a lead.
func (e *Explainer) Decision(id market.LeadID) (*event.LeadDecided, error) {
	found, err := e.decision(id)
	if err != nil {
		return nil, err
	}
	return found.lead(), nil
}

// decision finds a lead's decision: by its row in memory, or else by its time.
func (e *Explainer) decision(id market.LeadID) (*entry, error) {
	if row, ok := e.state.Lead(id); ok {
		return e.readEntry(row.Seq)
	}
	return e.findByID(id, noSuchID, func(ev event.Event) bool {
		lead, ok := ev.(*event.LeadDecided)
		return ok && lead.Lead == id
	})
}

// auction finds an auction by its time: memory knows its name alone.
func (e *Explainer) Auction(id market.AuctionID) (*Explanation, error) {
	found, err := e.findByID(id, noSuchID, func(ev event.Event) bool {
		switch ev := ev.(type) {
		case *event.AuctionHeld:
			return ev.Auction == id
		case *event.LeadDecided:
			return ev.Auction.ID == id
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
func (e *Explainer) Request(id market.RequestID) (*Explanation, error) {
	found, err := e.findByID(id, noSuchRequest, func(ev event.Event) bool {
		switch ev := ev.(type) {
		case *event.AuctionHeld:
			return ev.Request == id
		case *event.LeadDecided:
			return ev.Request == id
		case *event.StatusChanged:
			return ev.Request == id
		}
		return false
	})
	if err != nil {
		return nil, err
	}
	if report, ok := found.event.(*event.StatusChanged); ok {
		return e.reportedLead(report)
	}
	return e.explain(found)
}

// reported tells of the lead that a report was about; of many, of the first that it
// knows.
func (e *Explainer) reportedLead(report *event.StatusChanged) (*Explanation, error) {
	for i := range report.Changes {
		if change := &report.Changes[i]; !change.Lead.IsZero() && change.Result != event.ChangeUnknown {
			return e.Lead(change.Lead)
		}
	}
	return nil, notFound("the request reported of leads that its sender has not")
}

// sellers finds an auction by the id that its seller gave it. Memory has it by its
// name, for as long as that cannot be used again; what is older is looked for from
// the log's beginning on, unless it only might be a seller's.
func (e *Explainer) BySellerID(supplier, theirs string) (*Explanation, error) {
	first, last := market.Ref(1), market.Ref(e.state.NameCount(event.NameSupplier))
	if supplier != "" {
		first = e.state.RefOf(event.NameSupplier, supplier)
		if last = first; first == 0 {
			return nil, notFound(fmt.Sprintf("no supplier %q was ever configured", supplier))
		}
	}
	var found []*entry
	for ref := first; ref <= last; ref++ {
		if seq := e.auctionInMemory(ref, theirs); seq != 0 {
			held, err := e.readEntry(seq)
			if err != nil {
				return nil, err
			}
			found = append(found, held)
		}
	}
	if len(found) == 0 && supplier == "" && isOwnID(theirs) {
		return nil, notFound(noSuchID)
	}
	if len(found) == 0 {
		var err error
		if found, err = e.auctionsInLog(first, last, theirs); err != nil {
			return nil, err
		}
	}
	return e.single(found)
}

// remembered is a supplier's auction of an id that memory has: the one in earnest, and
// else one that was tried out under it, by its entry; 0: it has neither.
func (e *Explainer) auctionInMemory(supplier market.Ref, theirs string) (seq uint64) {
	for _, test := range []bool{false, true} {
		if row, ok := e.state.Auction(e.auctionName(supplier, theirs, test), 0); ok {
			return row.Seq
		}
	}
	return 0
}

// isOurs tells whether an id has the form of those that an exchange makes; one that
// sells here gives its auctions such.
func isOwnID(id string) bool {
	_, lead := market.ParseLeadID(id)
	_, auction := market.ParseAuctionID(id)
	_, ping := market.ParsePingID(id)
	_, request := market.ParseRequestID(id)
	return lead || auction || ping || request
}

// forgotten looks through the log for auctions whose names memory has forgotten:
// of each supplier the first.
func (e *Explainer) auctionsInLog(first, last market.Ref, theirs string) (found []*entry, err error) {
	seen := make(map[market.Ref]bool)
	truncated, err := e.scan([]byte(theirs), nil, 0, noTimeLimit, func(has *entry) bool {
		held, ok := has.event.(*event.AuctionHeld)
		if ok && held.SellerAuction == theirs && held.Supplier >= first && held.Supplier <= last && !seen[held.Supplier] {
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
func (e *Explainer) single(found []*entry) (*Explanation, error) {
	if len(found) == 1 {
		return e.explain(found[0])
	}
	namer := make([]string, 0, len(found))
	for _, one := range found {
		namer = append(namer, e.state.NameOf(event.NameSupplier, one.held().Supplier))
	}
	return nil, &admin.AmbiguousSupplier{Names: namer}
}

// explain tells all of what a decision belongs to.
func (e *Explainer) explain(found *entry) (*Explanation, error) {
	if _, ok := found.event.(*event.AuctionHeld); ok {
		return e.explainAuction(found)
	}
	doc, err := e.explainLead(found)
	if err != nil {
		return nil, err
	}
	if name := e.claimedAuction(found.lead()); name != [16]byte{} {
		if doc.Auction, err = e.claimedPing(name, found); err != nil {
			return nil, err
		}
		if doc.Auction != nil {
			doc.AuctionID = doc.Auction.AuctionID
		}
	}
	e.redact(found, doc)
	return doc, nil
}

// explainAuction tells of an auction and of the leads that took up what it offered.
func (e *Explainer) explainAuction(found *entry) (*Explanation, error) {
	doc := e.newAuctionExplanation(found)
	claims, truncated, err := e.claims(found)
	if err != nil {
		return nil, err
	}
	doc.Truncated = truncated
	for _, claim := range claims {
		e.redact(claim.decided, claim.doc, doc)
		doc.Leads = append(doc.Leads, claim.doc)
	}
	e.addClaims(doc, found.held(), claims)
	return doc, nil
}

// cameFor is the name of the auction whose bid a lead was to be sold at; zero where
// there is none, or it left no word of it.
func (e *Explainer) claimedAuction(lead *event.LeadDecided) [16]byte {
	if lead.Sale.Ping == [16]byte{} && lead.SellerAuction != "" {
		return e.auctionName(lead.Supplier, lead.SellerAuction, lead.Sale.Test)
	}
	return lead.Sale.Ping
}

// earlier is the ping whose bid a lead was sold at; nil where history no longer
// has it.
func (e *Explainer) claimedPing(name [16]byte, sold *entry) (*Explanation, error) {
	decided := sold.lead()
	row, ok := e.state.Auction(name, decided.Decided)
	var found *entry
	var err error
	switch {
	case ok:
		found, err = e.readEntry(row.Seq)
	case decided.Post.Auction.IsZero():
		return nil, nil //nolint:nilnil // as below
	default:
		found, err = e.findByID(decided.Post.Auction, noSuchID, func(ev event.Event) bool {
			held, ok := ev.(*event.AuctionHeld)
			return ok && held.Name == name
		})
	}
	if isMissing(err) {
		return nil, nil //nolint:nilnil // the lead is told of without it
	}
	if err != nil {
		return nil, err
	}
	doc := e.newAuctionExplanation(found)
	claims, truncated, err := e.claims(found)
	if err != nil {
		return nil, err
	}
	doc.Truncated = truncated
	e.addClaims(doc, found.held(), claims)
	return doc, nil
}

func notFound(what string) error {
	return fmt.Errorf("%w: %s", engine.ErrNotFound, what)
}
