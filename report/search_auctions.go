package report

import (
	"context"
	"database/sql"
	"errors"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// AuctionSearchResult is one result of a search for auctions: a finished auction with its winner, if any.
type AuctionSearchResult struct {
	ID                 market.AuctionID
	At                 int64         // Unix nanoseconds
	Lead               market.LeadID // zero: an auction for a ping
	Campaign, Supplier string
	Asked              int                 // number of buyers that received a ping
	Reason             market.UnsoldReason // why no bid was accepted
	Winner             string              // buyer with the best bid; empty: no winner
	Amount             market.Money
	Currency           string // empty: no winner
	Sale               AuctionSale
	Test               bool
}

// AuctionSale is the current state of the lead that was auctioned. Its buyer is not always the winner, which
// can reject the post. It is zero for an auction for a ping, and if the database begins after the lead.
type AuctionSale struct {
	Buyer    string // that has the lead or will get it; empty: unsold
	Price    market.Money
	Currency string // empty: unsold
	Status   market.LeadStatus
	Delivery market.DeliveryState
}

const auctionColumns = "id, at, lead, campaign, supplier, asked, reason, test, " +
	"(SELECT b.buyer FROM bids b WHERE b.auction = auctions.id AND b.outcome = 1), " +
	"(SELECT b.amount FROM bids b WHERE b.auction = auctions.id AND b.outcome = 1), " +
	"(SELECT b.currency FROM bids b WHERE b.auction = auctions.id AND b.outcome = 1), " +
	"(SELECT l.buyer FROM leads l WHERE l.id = auctions.lead), (SELECT l.price FROM leads l WHERE l.id = auctions.lead), " +
	"(SELECT l.currency FROM leads l WHERE l.id = auctions.lead), (SELECT l.status FROM leads l WHERE l.id = auctions.lead), " +
	"(SELECT l.delivery FROM leads l WHERE l.id = auctions.lead)"

// SearchAuctions returns one page of the auctions that match the search, newest first. The error is
// an *InvalidQuestionError, a *NotFollowedYetError, or an error of the database.
func (r *Report) SearchAuctions(ctx context.Context, s LeadOrAuctionQuery) (found []AuctionSearchResult, p SearchProgress, err error) {
	err = r.readServedDatabase(ctx, s.To, func(ctx context.Context, tx *sql.Tx, at *databaseProgress) error {
		c, err := r.auctionCondition(&s)
		if err != nil {
			return err
		}
		h := r.newIDScan(tx, "auctions", auctionColumns, c, &s, at)
		h.scanRow = func(rows *sql.Rows) ([16]byte, error) {
			a, err := r.scanAuction(rows)
			found = append(found, a)
			return a.ID, err
		}
		p, err = h.run(ctx)
		return err
	})
	return found, p, err
}

func (r *Report) auctionCondition(s *LeadOrAuctionQuery) (*searchCondition, error) {
	c, bids, src := new(searchCondition), new(searchCondition), r.opt.Source
	err := errors.Join(
		c.addNameCondition(src, event.ObjectSupplier, "supplier", "", "supplier = ?", s.Supplier),
		c.addNameCondition(src, event.ObjectCampaign, "campaign", "", "campaign = ?", s.Campaign),
		bids.addNameCondition(src, event.ObjectBuyer, "buyer", "", "b.buyer = ?", s.Buyer),
	)
	if err != nil {
		return nil, err
	}
	if s.Outcome != "" {
		n, ok := enumValueByName(s.Outcome, market.OutcomeCount, func(n int) string { return market.BuyerOutcome(n).String() })
		if !ok {
			return nil, &InvalidQuestionError{"outcome", "the outcome of a bid, such as won, lost or below_floor"}
		}
		bids.and("b.outcome = ?", n)
	}
	if bids.where != "" {
		c.and("EXISTS (SELECT 1 FROM bids b WHERE b.auction = auctions.id"+bids.where+")", bids.args...)
	}
	if s.Test != nil {
		c.and("test = ?", *s.Test)
	}
	s.addTimeCondition(c)
	return c, nil
}

func (r *Report) scanAuction(rows *sql.Rows) (a AuctionSearchResult, err error) {
	var id, lead []byte
	var campaign, supplier market.PermanentNumber
	var winner, amount, buyer, price, status, delivery sql.NullInt64
	var currency, saleCurrency sql.NullString
	err = rows.Scan(&id, &a.At, &lead, &campaign, &supplier, &a.Asked, &a.Reason, &a.Test, &winner, &amount, &currency,
		&buyer, &price, &saleCurrency, &status, &delivery)
	copy(a.ID[:], id)
	copy(a.Lead[:], lead)
	src := r.opt.Source
	a.Campaign, a.Supplier = src.NameOf(event.ObjectCampaign, campaign), src.NameOf(event.ObjectSupplier, supplier)
	if winner.Valid {
		a.Winner, a.Amount, a.Currency = src.NameOf(event.ObjectBuyer, market.PermanentNumber(winner.Int64)), market.Money(amount.Int64), currency.String
	}
	if status.Valid {
		a.Sale = AuctionSale{
			Buyer: src.NameOf(event.ObjectBuyer, market.PermanentNumber(buyer.Int64)), Price: market.Money(price.Int64), Currency: saleCurrency.String,
			Status: market.LeadStatus(status.Int64), Delivery: market.DeliveryState(delivery.Int64),
		}
	}
	return a, err
}
