package witness

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// bidFields is a buyer's result in an auction.
type bidFields struct {
	Buyer   uint64       `json:"buyer"`
	Outcome string       `json:"outcome"`
	Amount  market.Money `json:"amount"`
	Payout  market.Money `json:"payout"`
}

// bidsByBuyer holds the acceptable bids.
type bidsByBuyer map[string]market.Money

// modelAuction is a ping or an availability request in the model.
type modelAuction struct {
	name, campaign string
	reason         string
	bids           bidsByBuyer
	bestBid        market.Money // zero: no acceptable bid
	lead           *modelLead   // the lead that used the bid
	isChoice       bool         // an availability request: the supplier chooses a buyer
}

// promisedPrice returns the price of a sale to the buyer: the best bid of a ping, or the chosen
// buyer's bid.
func (a *modelAuction) promisedPrice(buyer string) market.Money {
	if a.isChoice {
		return a.bids[buyer]
	}
	return a.bestBid
}

// acceptableBids returns the bids of an event, and the best one. The event must list the best
// bid first.
func (b *logModel) acceptableBids(f *eventFields) (all bidsByBuyer, best market.Money) {
	all = bidsByBuyer{}
	floor := market.Money(0)
	if c := b.config.campaignByID(b.idOfReference(event.ObjectCampaign, f.Campaign)); c != nil {
		floor = c.floor
	}
	last := market.Money(0)
	for _, bid := range f.Bids {
		if bid.Payout == 0 {
			continue
		}
		if bid.Payout != payout(bid.Amount) || bid.Amount < floor {
			b.addViolation("a bid of %v with payout %v is below the floor or has a wrong payout", bid.Amount, bid.Payout)
		}
		if last != 0 && bid.Amount > last {
			b.addViolation("the bids are not sorted: %v after %v", bid.Amount, last)
		}
		last = bid.Amount
		all[b.idOfReference(event.ObjectBuyer, bid.Buyer)] = bid.Amount
		best = max(best, bid.Amount)
	}
	return all, best
}

// applyAuction adds an auction without a lead.
func (b *logModel) applyAuction(f *eventFields) {
	a := &modelAuction{name: f.Name, campaign: b.idOfReference(event.ObjectCampaign, f.Campaign), reason: f.Reason, isChoice: f.SellerAuctionID == ""}
	a.bids, a.bestBid = b.acceptableBids(f)
	if (a.bestBid == 0) != (a.reason != "") {
		b.addViolation("auction %s has a best bid of %v and the reason %q; exactly one of them must be set", f.SellerAuctionID, a.bestBid, a.reason)
	}
	if b.sellerAuctionIDs[f.SellerAuctionID] && !a.isChoice {
		b.addViolation("the supplier's auction id %s is used twice", f.SellerAuctionID)
	}
	if b.auctions[a.name] != nil || b.auctionByRequest[f.Request] != nil {
		b.addViolation("two auctions have the name %s, or the request %s", a.name, f.Request)
	}
	b.sellerAuctionIDs[f.SellerAuctionID], b.auctions[a.name], b.auctionByRequest[f.Request] = true, a, a
}

// assignBids sets the bids that a lead may be sold at. It marks an earlier auction as used.
func (b *logModel) assignBids(e *modelLead, f *eventFields) {
	if !b.config.isAuction(e.campaign) {
		return
	}
	if f.Sale.Ping == "" {
		e.bids, _ = b.acceptableBids(f)
		return
	}
	a := b.auctions[f.Sale.Ping]
	switch {
	case a == nil || a.campaign != e.campaign:
		b.addViolation("lead %s is sold at a bid of the auction %s, which does not exist", e.id, f.Sale.Ping)
		return
	case a.lead != nil:
		b.addViolation("auction %s sells two leads, %s and %s", a.name, a.lead.id, e.id)
	case f.Sale.Price != a.promisedPrice(b.idOfReference(event.ObjectBuyer, f.Sale.Buyer)):
		b.addViolation("lead %s is sold at %v, but %v was promised", e.id, f.Sale.Price, a.promisedPrice(b.idOfReference(event.ObjectBuyer, f.Sale.Buyer)))
	}
	a.lead, e.auctionName, e.bids = e, a.name, a.bids
}

// releaseAuction makes the auction of a refused lead available again. A lead sold at a promised
// bid must not go to another buyer.
func (b *logModel) releaseAuction(e *modelLead, goesOn bool) {
	if e.auctionName == "" {
		return
	}
	if goesOn {
		b.addViolation("lead %s moves away from the buyer whose bid was promised", e.id)
	}
	if a := b.auctions[e.auctionName]; a != nil && a.lead == e {
		a.lead = nil
	}
}

// expectedPrice returns the lead's price for its buyer. ok is false if the buyer cannot have
// the lead.
func (b *logModel) expectedPrice(e *modelLead) (price market.Money, ok bool) {
	if b.config.isAuction(e.campaign) {
		price, ok = e.bids[e.buyer]
		return price, ok
	}
	return b.config.fixedPrice(e.campaign, e.buyer)
}

// payment is a movement of money: an opening balance, a top-up, a sale or a return.
type payment struct {
	seq            uint64
	kind           string
	lead, campaign string // empty: no lead
	buyer          string
	price, payout  market.Money // paid by the buyer and to the supplier; negative: paid back
}

// statementLine is a line of a buyer's or the supplier's statement.
type statementLine struct {
	seq            uint64
	kind           string
	lead, campaign string
	amount         market.Money // signed from the account's side: payments are negative
}

// statementLines returns the lines of a buyer's or the supplier's statement up to a log position.
func (b *logModel) statementLines(party string, upTo uint64) (lines []statementLine) {
	for _, m := range b.payments {
		line := statementLine{m.seq, m.kind, m.lead, m.campaign, -m.price}
		if party == SupplierID && m.lead != "" {
			line.amount = m.payout
			if m.kind == "return" {
				line.kind = "reversal"
			}
		} else if party != m.buyer {
			continue
		}
		if m.seq <= upTo {
			lines = append(lines, line)
		}
	}
	return lines
}

// reservedFrom is the reserved money of a buyer from a log position on.
type reservedFrom struct {
	seq      uint64
	reserved market.Money
}

func (b *logModel) applyFunds(f *eventFields) {
	amount, err := market.ParseMoney([]byte(f.Amount))
	if err != nil {
		b.addViolation("invalid amount %q: %v", f.Amount, err)
	}
	buyer, kind := b.idOfReference(event.ObjectBuyer, f.Buyer), "opening"
	if f.Opening && b.balance[buyer] != 0 {
		b.addViolation("a second opening balance of %s", buyer)
	}
	if !f.Opening {
		kind = "top_up"
		action := operatorAction{"top-up of", amount.String()} // all amounts differ, so each identifies a top-up
		if b.actions[action]++; b.actions[action] > 1 {
			b.addViolation("the top-up of %v is in the log twice", amount)
		}
	}
	b.balance[buyer] += amount
	b.payments = append(b.payments, payment{seq: b.seq, kind: kind, buyer: buyer, price: -amount})
}

// reserveMoney reserves a lead's price, or releases it if negative. Tests reserve no money.
func (b *logModel) reserveMoney(e *modelLead, price market.Money) {
	if e.isTest {
		return
	}
	b.reserved[e.buyer] += price
	b.reservedHistory[e.buyer] = append(b.reservedHistory[e.buyer], reservedFrom{b.seq, b.reserved[e.buyer]})
}

// reservedAfter returns a buyer's reserved money after a log position.
func (b *logModel) reservedAfter(buyer string, seq uint64) (held market.Money) {
	for _, h := range b.reservedHistory[buyer] {
		if h.seq <= seq {
			held = h.reserved
		}
	}
	return held
}

// addPayment books the sale or return of a lead. Tests cost no money.
func (b *logModel) addPayment(kind string, e *modelLead, price, paid market.Money) {
	if e.isTest || price == 0 && paid == 0 {
		return
	}
	b.balance[e.buyer] -= price
	b.payments = append(b.payments, payment{b.seq, kind, e.id, e.campaign, e.buyer, price, paid})
}

func (b *logModel) checkOverdraft(id string) {
	buyer := b.config.buyerByID(id)
	if buyer == nil || !buyer.funded {
		return
	}
	if b.balance[id]+buyer.credit < b.reserved[id] {
		b.addViolation("%s is overdrawn: balance %v, reserved %v, credit %v", id, b.balance[id], b.reserved[id], buyer.credit)
	}
}
