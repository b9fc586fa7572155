package explain

import (
	"fmt"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/server/admin"
)

// ExplainLead returns the explanation of the lead with this id. The error is engine.ErrNotFound if the
// log has no such lead, or no longer has it.
func (e *Explainer) ExplainLead(id market.LeadID) (*Explanation, error) {
	found, err := e.findDecisionEntry(id)
	if err != nil {
		return nil, err
	}
	return e.explainEntry(found)
}

// FindLeadDecision returns the event by which the exchange decided the lead. The error is
// engine.ErrNotFound if the log does not have it.
func (e *Explainer) FindLeadDecision(id market.LeadID) (*event.LeadDecided, error) {
	found, err := e.findDecisionEntry(id)
	if err != nil {
		return nil, err
	}
	return found.mustBeLeadDecided(), nil
}

// findDecisionEntry finds the log entry that decided a lead. If memory still has the lead, its row
// names the entry. Otherwise it searches the log around the time in the id.
func (e *Explainer) findDecisionEntry(id market.LeadID) (*logEntry, error) {
	row, ok, err := e.State.Lead(id)
	if err != nil {
		return nil, err
	}
	if ok {
		return e.readEntry(row.Seq)
	}
	return e.findEventByID(id, noSuchID, func(ev event.Event) bool {
		lead, ok := ev.(*event.LeadDecided)
		return ok && lead.Lead == id
	})
}

// ExplainAuction returns the explanation of an auction. It searches the log around the time in the id,
// because memory finds auctions only by a name derived from the seller's id. If the auction was
// held for an ingested lead, the result is that lead's explanation.
func (e *Explainer) ExplainAuction(id market.AuctionID) (*Explanation, error) {
	found, err := e.findEventByID(id, noSuchID, func(ev event.Event) bool {
		switch ev := ev.(type) {
		case *event.PingAuctionCompleted:
			return ev.Auction == id
		case *event.LeadDecided:
			return ev.Auction.ID == id
		}
		return false
	})
	if err != nil {
		return nil, err
	}
	return e.explainEntry(found)
}

// Reasons for an engine.ErrNotFound.
const (
	noSuchID      = "the log has no lead and no auction with this id"
	noSuchRequest = "the log has no event that this request caused; the exchange records no request that it rejected before a decision, " +
		"and no repetition of a request that it had answered"
)

// ExplainRequest explains the lead or auction that the HTTP request with this id caused. For a buyer's
// status report, it explains the reported lead.
func (e *Explainer) ExplainRequest(id market.RequestID) (*Explanation, error) {
	found, err := e.findEventByID(id, noSuchRequest, func(ev event.Event) bool {
		switch ev := ev.(type) {
		case *event.PingAuctionCompleted:
			return ev.Request == id
		case *event.LeadDecided:
			return ev.Request == id
		case *event.LeadStatusChangesDecided:
			return ev.Request == id
		}
		return false
	})
	if err != nil {
		return nil, err
	}
	if report, ok := found.event.(*event.LeadStatusChangesDecided); ok {
		return e.explainReportedLead(report)
	}
	return e.explainEntry(found)
}

// explainReportedLead explains the lead to which a status report refers. If the report covers several
// leads, it explains the first that exists.
func (e *Explainer) explainReportedLead(report *event.LeadStatusChangesDecided) (*Explanation, error) {
	for i := range report.Changes {
		if change := &report.Changes[i]; !change.Lead.IsZero() && change.Result != event.ChangeUnknown {
			return e.ExplainLead(change.Lead)
		}
	}
	return nil, notFoundError("the request reported the status of leads that its sender does not have; there is no lead to explain")
}

// ExplainBySellersAuctionID explains the auction to which a seller gave the id sellersAuctionID. An
// empty supplier stands for all suppliers.
//
// Memory has an auction by the seller's id for as long as the seller cannot use that id again.
// For an older one ExplainBySellersAuctionID reads the log from the beginning, up to searchLimits. It skips
// that search without a supplier if sellersAuctionID has the form of the exchange's own ids, because it is
// probably one of them.
func (e *Explainer) ExplainBySellersAuctionID(supplier, sellersAuctionID string) (*Explanation, error) {
	first, last := market.PermanentNumber(1), market.PermanentNumber(e.State.CountPermanentNumbers(event.ObjectSupplier))
	if supplier != "" {
		first = e.State.RefOf(event.ObjectSupplier, supplier)
		if last = first; first == 0 {
			return nil, notFoundError(fmt.Sprintf("no supplier %q was ever configured", supplier))
		}
	}
	var found []*logEntry
	for ref := first; ref <= last; ref++ {
		if seq := e.findInMemoryBySellersAuctionID(ref, sellersAuctionID); seq != 0 {
			entry, err := e.readEntry(seq)
			if err != nil {
				return nil, err
			}
			found = append(found, entry)
		}
	}
	if len(found) == 0 && supplier == "" && looksGeneratedByExchange(sellersAuctionID) {
		return nil, notFoundError(noSuchID)
	}
	if len(found) == 0 {
		var err error
		if found, err = e.searchLogBySellersAuctionID(first, last, sellersAuctionID); err != nil {
			return nil, err
		}
	}
	return e.explainAuctionIfUnambiguous(found)
}

// findInMemoryBySellersAuctionID returns the log entry's number of the auction to which the supplier gave
// the id sellersAuctionID, or 0. A production auction precedes a test auction with the same id.
func (e *Explainer) findInMemoryBySellersAuctionID(supplier market.PermanentNumber, sellersAuctionID string) (seq uint64) {
	for _, test := range []bool{false, true} {
		if row, ok := e.State.FindAuction(e.AuctionName(supplier, sellersAuctionID, test), 0); ok {
			return row.Seq
		}
	}
	return 0
}

// looksGeneratedByExchange reports whether an id looks like the ids that this exchange generates. A seller
// that runs pingpost too generates ids of the same form.
func looksGeneratedByExchange(id string) bool {
	_, lead := market.ParseLeadID(id)
	_, auction := market.ParseAuctionID(id)
	_, ping := market.ParsePingID(id)
	_, request := market.ParseRequestID(id)
	return lead || auction || ping || request
}

// searchLogBySellersAuctionID searches the log from its beginning, up to searchLimits, for auctions with the
// seller's id, of the suppliers from firstSupplier to lastSupplier. It is for old auctions that memory
// no longer has. It returns the first such auction of each supplier; after the limit, suppliers may
// be missing. If it finds no auction, it returns a not-found error.
func (e *Explainer) searchLogBySellersAuctionID(firstSupplier, lastSupplier market.PermanentNumber, sellersAuctionID string) (found []*logEntry, err error) {
	seen := make(map[market.PermanentNumber]bool)
	truncated, err := e.scanEntriesContaining([]byte(sellersAuctionID), nil, 0, noTimeLimit, func(has *logEntry) bool {
		auctionEvent, ok := has.event.(*event.PingAuctionCompleted)
		if ok && auctionEvent.SellerAuction == sellersAuctionID && auctionEvent.Supplier >= firstSupplier && auctionEvent.Supplier <= lastSupplier && !seen[auctionEvent.Supplier] {
			seen[auctionEvent.Supplier] = true
			found = append(found, has)
		}
		return firstSupplier != lastSupplier || len(found) == 0
	})
	switch {
	case err != nil || len(found) > 0:
		return found, err
	case truncated:
		return nil, notFoundError("memory does not have this auction, and the search ended at its limit before the end of the log")
	}
	return nil, notFoundError("the log has no lead, auction, ping or request with this id, and no auction to which a seller gave this id")
}

// explainAuctionIfUnambiguous explains the auction if exactly one was found. Otherwise the error is a
// *admin.AmbiguousAuctionSupplierError that names the suppliers, so that the operator can choose one.
func (e *Explainer) explainAuctionIfUnambiguous(found []*logEntry) (*Explanation, error) {
	if len(found) == 1 {
		return e.explainEntry(found[0])
	}
	names := make([]string, 0, len(found))
	for _, one := range found {
		names = append(names, e.State.NameOf(event.ObjectSupplier, one.mustBePingAuction().Supplier))
	}
	return nil, &admin.AmbiguousAuctionSupplierError{Names: names}
}

// explainEntry explains the lead or auction that a log entry decided. A lead that claimed the
// bid of a ping gets that ping's explanation too.
func (e *Explainer) explainEntry(found *logEntry) (*Explanation, error) {
	if _, ok := found.event.(*event.PingAuctionCompleted); ok {
		return e.explainAuctionWithLeads(found)
	}
	doc, err := e.explainLeadOmittingItsPing(found)
	if err != nil {
		return nil, err
	}
	if name := e.claimedAuctionName(found.mustBeLeadDecided()); name != [16]byte{} {
		if doc.Auction, err = e.explainClaimedPingOrNil(name, found); err != nil {
			return nil, err
		}
		if doc.Auction != nil {
			doc.AuctionID = doc.Auction.AuctionID
		}
	}
	e.redactTextsWithContactData(found, doc)
	return doc, nil
}

// explainAuctionWithLeads explains an auction, together with the leads that claimed its offers. Texts
// that repeat their contact data are withheld.
func (e *Explainer) explainAuctionWithLeads(found *logEntry) (*Explanation, error) {
	doc, claims, err := e.explainAuctionUnredacted(found)
	if err != nil {
		return nil, err
	}
	for _, claim := range claims {
		e.redactTextsWithContactData(claim.decided, claim.doc, doc)
		doc.Leads = append(doc.Leads, claim.doc)
	}
	return doc, nil
}

// explainAuctionUnredacted explains an auction and lists under each offer the leads that claimed it.
// It also returns these leads; their texts are not yet redacted.
func (e *Explainer) explainAuctionUnredacted(found *logEntry) (*Explanation, []leadPostedForOffer, error) {
	doc := e.newAuctionExplanation(found)
	claims, truncated, err := e.findLeadsPostedForOffersOf(found)
	if err != nil {
		return nil, nil, err
	}
	doc.Truncated = truncated
	e.addClaimsAndSaleToAuction(doc, found.mustBePingAuction(), claims)
	return doc, claims, nil
}

// claimedAuctionName returns the name under which memory knows the auction whose bid the lead
// claimed. It is zero if the lead claimed no bid.
func (e *Explainer) claimedAuctionName(lead *event.LeadDecided) (keyInMemoryOrZero [16]byte) {
	if lead.Sale.Ping == [16]byte{} && lead.SellerAuction != "" {
		return e.AuctionName(lead.Supplier, lead.SellerAuction, lead.Sale.Test)
	}
	return lead.Sale.Ping
}

// explainClaimedPingOrNil explains the ping whose bid a lead claimed. It returns nil if the log no
// longer has that ping. It also returns nil if memory no longer has the ping and the lead's event does
// not contain its id.
func (e *Explainer) explainClaimedPingOrNil(auctionName [16]byte, leadDecision *logEntry) (*Explanation, error) {
	decided := leadDecision.mustBeLeadDecided()
	row, ok := e.State.FindAuction(auctionName, decided.Decided)
	var found *logEntry
	var err error
	switch {
	case ok:
		found, err = e.readEntry(row.Seq)
	case decided.Post.Auction.IsZero():
		return nil, nil //nolint:nilnil // as below
	default:
		found, err = e.findEventByID(decided.Post.Auction, noSuchID, func(ev event.Event) bool {
			auctionEvent, ok := ev.(*event.PingAuctionCompleted)
			return ok && auctionEvent.Name == auctionName
		})
	}
	if isNotInLogError(err) {
		return nil, nil //nolint:nilnil // the lead's explanation works without the ping
	}
	if err != nil {
		return nil, err
	}
	doc, _, err := e.explainAuctionUnredacted(found)
	return doc, err
}

func notFoundError(text string) error {
	return fmt.Errorf("%w: %s", engine.ErrNotFound, text)
}
