package report

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// FoundLead is one result of a search for leads, with the lead's current state.
type FoundLead struct {
	ID                        market.LeadID
	At                        int64 // Unix nanoseconds
	Campaign, Supplier, Buyer string
	Status                    market.LeadStatus
	Delivery                  market.DeliveryState
	Reason                    market.UnsoldReason
	Price, Payout             market.Money
	Currency                  string // empty: no price
	Auction                   market.AuctionID
	Source, State             string
	Posts                     int
	Test, Erased              bool
}

const leadColumns = "id, at, campaign, supplier, buyer, status, delivery, reason, price, payout, currency, auction, " +
	"(SELECT s.id FROM sources s WHERE s.ref = source), state, posts, test, erased"

// SearchLeads returns one page of the leads that match the search, newest first. The error is
// an *InvalidQuestionError, a *NotFollowedYetError, or an error of the database.
func (r *Report) SearchLeads(ctx context.Context, s LeadOrAuctionQuery) (found []FoundLead, p SearchProgress, err error) {
	err = r.readServedDatabase(ctx, s.To, func(ctx context.Context, tx *sql.Tx, at *databaseProgress) error {
		c, err := r.leadCondition(ctx, tx, &s)
		if err != nil {
			return err
		}
		h := r.newIDScan(tx, "leads", leadColumns, c, &s, at)
		h.scanRow = func(rows *sql.Rows) ([16]byte, error) {
			l, err := r.scanLead(rows)
			found = append(found, l)
			return l.ID, err
		}
		p, err = h.run(ctx)
		return err
	})
	return found, p, err
}

func (r *Report) newIDScan(tx *sql.Tx, table, columns string, c *searchCondition, s *LeadOrAuctionQuery, at *databaseProgress) *newestFirstScan {
	h := &newestFirstScan{tx: tx, table: table, columns: columns, searchCondition: *c, limit: s.Limit, budget: r.opt.limits.searchTime, firstRows: r.opt.limits.firstScanRows}
	h.low, h.high = s.idRange(at.begins)
	if c.maxTime != 0 {
		h.low, h.high = maxID(h.low, firstIDAt(c.minTime)), minID(h.high, firstIDAt(c.maxTime))
	}
	return h
}

// leadCondition returns the search as SQL conditions. It adds the index that usually matches
// the fewest rows first, because only the first one is used.
func (r *Report) leadCondition(ctx context.Context, tx *sql.Tx, s *LeadOrAuctionQuery) (*searchCondition, error) {
	c := new(searchCondition)
	if err := s.addLeadOrAuctionCondition(ctx, tx, c); err != nil {
		return nil, err
	}
	if s.Test != nil && *s.Test {
		c.addConditionWithIndex("leads_test", "test = 1 AND test = ?", 1)
	} else if s.Test != nil {
		c.and("test = 0")
	}
	if s.Reason != "" {
		n, ok := enumValueByName(s.Reason, int(market.ReasonLoop)+1, func(n int) string { return market.UnsoldReason(n).String() })
		if !ok {
			return nil, &InvalidQuestionError{"reason", "the reason of an unsold lead, such as caps_full or no_bid"}
		}
		c.addConditionWithIndex("leads_reason", "reason > 0 AND reason = ?", n)
	}
	src := r.opt.Source
	err := errors.Join(
		c.addNameCondition(src, event.ObjectBuyer, "buyer", "leads_buyer", "buyer > 0 AND buyer = ?", s.Buyer),
		c.addNameCondition(src, event.ObjectSupplier, "supplier", "leads_supplier", "supplier = ?", s.Supplier),
		c.addNameCondition(src, event.ObjectCampaign, "campaign", "", "campaign = ?", s.Campaign),
	)
	if err != nil {
		return nil, err
	}
	if s.Status != "" {
		n, ok := enumValueByName(s.Status, int(market.StatusReturned)+1, func(n int) string { return market.LeadStatus(n).String() })
		if !ok {
			return nil, &InvalidQuestionError{"status", "OPEN, ACCEPTED, UNMATCHED, contacted, qualified, sold or returned"}
		}
		c.and("status = ?", n)
	}
	if s.State != "" {
		c.and("state = ?", strings.ToUpper(s.State))
	}
	s.addTimeCondition(c)
	return c, s.addSourceCondition(ctx, tx, c)
}

// addTimeCondition adds the exact limits of the search's time. The limits of ids are only
// approximate.
func (s *LeadOrAuctionQuery) addTimeCondition(c *searchCondition) {
	if s.From != 0 {
		c.and("at >= ?", s.From)
	}
	if s.To != 0 {
		c.and("at < ?", s.To)
	}
}

// addSourceCondition adds the condition on the lead source. If the database does not know the
// source, the search has no results.
func (s *LeadOrAuctionQuery) addSourceCondition(ctx context.Context, tx *sql.Tx, c *searchCondition) error {
	if s.Source == "" {
		return nil
	}
	var ref int64
	err := tx.QueryRowContext(ctx, "SELECT ref FROM sources WHERE id = ?", s.Source).Scan(&ref)
	if errors.Is(err, sql.ErrNoRows) {
		c.matchesNothing = true
		return nil
	}
	c.and("source = ?", ref)
	return err
}

// addLeadOrAuctionCondition limits the search to one lead id, to the lead of an auction (sold or not),
// or to both. The auction's lead was created in the auction or soon after it.
func (s *LeadOrAuctionQuery) addLeadOrAuctionCondition(ctx context.Context, tx *sql.Tx, c *searchCondition) error {
	if s.Lead != (market.LeadID{}) {
		c.and("id = ?", s.Lead[:])
		c.limitToIDsAround(creationNanosOfID(s.Lead), time.Millisecond)
	}
	if s.Auction == (market.AuctionID{}) {
		return nil
	}
	var lead []byte
	err := tx.QueryRowContext(ctx, "SELECT lead FROM auctions WHERE id = ?", s.Auction[:]).Scan(&lead)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if lead != nil {
		c.and("id = ?", lead)
	} else {
		c.and("auction = ?", s.Auction[:])
	}
	c.limitToIDsAround(creationNanosOfID(s.Auction), maxSaleDelay)
	return nil
}

// maxSaleDelay is a generous limit of the time between an auction and its lead's sale.
const maxSaleDelay = time.Minute

// scanLead scans a row with the columns leadColumns, and further columns into more.
func (r *Report) scanLead(rows *sql.Rows, more ...any) (l FoundLead, err error) {
	var id, auction []byte
	var campaign, supplier, buyer market.PermanentNumber
	var source sql.NullString
	err = rows.Scan(append([]any{
		&id, &l.At, &campaign, &supplier, &buyer, &l.Status, &l.Delivery, &l.Reason, &l.Price, &l.Payout, &l.Currency, &auction,
		&source, &l.State, &l.Posts, &l.Test, &l.Erased,
	}, more...)...)
	copy(l.ID[:], id)
	copy(l.Auction[:], auction)
	src := r.opt.Source
	l.Campaign, l.Supplier, l.Buyer = src.NameOf(event.ObjectCampaign, campaign), src.NameOf(event.ObjectSupplier, supplier), src.NameOf(event.ObjectBuyer, buyer)
	l.Source = source.String
	return l, err
}
