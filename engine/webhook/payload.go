package webhook

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// Payload is the content of a webhook about a lead, without its envelope. It is built from log records,
// or from the lead's row in memory if the log no longer has them. It contains no personal data.
type Payload struct {
	campaign     market.PermanentNumber
	sellerLeadID string // the seller's own id of the lead; empty: none
	auction      string // the seller's auction id, or else ours; empty: no auction
	test         bool

	buyer     market.PermanentNumber // zero: no buyer
	hasPayout bool
	payout    market.Money
	reversed  market.Money // part of the payout that a return takes back
	currency  market.Currency
	reason    string
}

// NewPayloadOfDecision returns the payload for a lead's first record: its sale, or the reason why it
// is unsold. It copies the record's texts.
func NewPayloadOfDecision(record *event.LeadDecided) Payload {
	p := Payload{
		campaign: record.Campaign, sellerLeadID: record.SellerLeadID(),
		auction: string([]byte(record.SellerAuction)), test: record.Sale.Test,
	}
	if p.auction == "" {
		p.auction = record.AuctionIDText()
	}
	if record.Sale.Buyer == 0 {
		p.reason = record.Reason.String()
	} else {
		p.setSale(&record.Sale)
	}
	return p
}

func (p *Payload) setSale(sale *event.Sale) {
	p.buyer, p.hasPayout, p.payout, p.currency = sale.Buyer, true, sale.Payout, sale.Currency
}

func (p *Payload) clearSale() {
	p.buyer, p.hasPayout, p.payout, p.reversed, p.currency, p.reason = 0, false, 0, 0, market.Currency{}, ""
}

// SetOutcomeOfSettlement changes the payload to the outcome of a post. The record must be one that
// triggers a webhook: it ends the post, and no further post follows.
func (p *Payload) SetOutcomeOfSettlement(record *event.PostSettled) {
	p.clearSale()
	p.campaign, p.test = record.Campaign, record.Sale.Test
	switch {
	case record.Next.Buyer != 0:
		p.setSale(&record.Next)
	case record.Reason == market.ReasonNone:
		p.setSale(&record.Sale)
	default:
		p.reason = record.Reason.String()
	}
}

// applyStatusReport adds a buyer's report to the payload: the reason, and the payout that a return
// takes back. If log and memory no longer have the lead, the buyer and the campaign come from the
// report.
func (p *Payload) applyStatusReport(buyer market.PermanentNumber, change *event.DecidedLeadStatusChange) {
	if p.buyer == 0 {
		p.buyer, p.campaign, p.currency = buyer, change.Return.Campaign, change.Return.Currency
	}
	p.reason, p.reversed = string([]byte(change.Reason)), change.Return.Reverse
}

// setSaleAndReasonFromLeadRow sets the sale and the reason in the payload from the lead's row in memory, which
// has the buyer and the payout.
func (p *Payload) setSaleAndReasonFromLeadRow(lead *state.Lead) {
	p.clearSale()
	p.campaign, p.test = lead.Campaign, lead.IsTest()
	if lead.Buyer != 0 && lead.Status != market.StatusUnmatched {
		p.buyer, p.hasPayout, p.payout, p.currency = lead.Buyer, true, lead.Payout, lead.Currency
	}
	p.reason = lead.Reason.String()
}

// textBytes returns the number of bytes of the payload's texts, for the cache's limit.
func (p *Payload) textBytes() int { return len(p.sellerLeadID) + len(p.auction) + len(p.reason) }
