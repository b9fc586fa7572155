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

// FoundLead is a lead as it stands.
type FoundLead struct {
	ID                        market.LeadID
	At                        int64 // Unix nanoseconds
	Campaign, Supplier, Buyer string
	Status                    market.Status
	Delivery                  market.Delivery
	Reason                    market.Reason
	Price, Payout             market.Money
	Currency                  string // empty: it has no price
	Auction                   market.AuctionID
	Source, State             string
	Posts                     int
	Test, Erased              bool
}

const leadColumns = "id, at, campaign, supplier, buyer, status, delivery, reason, price, payout, currency, auction, " +
	"(SELECT s.id FROM sources s WHERE s.ref = source), state, posts, test, erased"

// Leads looks for leads. The error is a *Fault, a *Behind, or of the file.
func (r *Report) Leads(ctx context.Context, s Search) (found []FoundLead, p Page, err error) {
	err = r.look(ctx, s.To, func(ctx context.Context, tx *sql.Tx, at *place) error {
		c, err := r.whichLeads(ctx, tx, &s)
		if err != nil {
			return err
		}
		h := r.hunt(tx, "leads", leadColumns, c, &s, at)
		h.take = func(rows *sql.Rows) ([16]byte, error) {
			l, err := r.foundLead(rows)
			found = append(found, l)
			return l.ID, err
		}
		p, err = h.run(ctx)
		return err
	})
	return found, p, err
}

func (r *Report) hunt(tx *sql.Tx, table, columns string, c *condition, s *Search, at *place) *hunt {
	h := &hunt{tx: tx, table: table, columns: columns, condition: *c, limit: s.Limit, budget: r.opt.most.searches, first: r.opt.most.stretch}
	h.low, h.high = s.span(at.begins)
	if c.most != 0 {
		h.low, h.high = later(h.low, idAt(c.least)), earlier(h.high, idAt(c.most))
	}
	return h
}

// whichLeads is the search as a condition. Of those that have an index, the one comes
// first that mostly fits the fewest.
func (r *Report) whichLeads(ctx context.Context, tx *sql.Tx, s *Search) (*condition, error) {
	c := new(condition)
	if err := s.oneLead(ctx, tx, c); err != nil {
		return nil, err
	}
	if s.Test != nil && *s.Test {
		c.by("leads_test", "test = 1 AND test = ?", 1)
	} else if s.Test != nil {
		c.and("test = 0")
	}
	if s.Reason != "" {
		n, ok := number(s.Reason, int(market.ReasonLoop)+1, func(n int) string { return market.Reason(n).String() })
		if !ok {
			return nil, &Fault{"reason", "why a lead was not sold, such as caps_full or no_bid"}
		}
		c.by("leads_reason", "reason > 0 AND reason = ?", n)
	}
	src := r.opt.Source
	err := errors.Join(
		c.named(src, event.NameBuyer, "buyer", "leads_buyer", "buyer > 0 AND buyer = ?", s.Buyer),
		c.named(src, event.NameSupplier, "supplier", "leads_supplier", "supplier = ?", s.Supplier),
		c.named(src, event.NameCampaign, "campaign", "", "campaign = ?", s.Campaign),
	)
	if err != nil {
		return nil, err
	}
	if s.Status != "" {
		n, ok := number(s.Status, int(market.StatusReturned)+1, func(n int) string { return market.Status(n).String() })
		if !ok {
			return nil, &Fault{"status", "OPEN, ACCEPTED, UNMATCHED, contacted, qualified, sold or returned"}
		}
		c.and("status = ?", n)
	}
	if s.State != "" {
		c.and("state = ?", strings.ToUpper(s.State))
	}
	s.during(c)
	return c, s.from(ctx, tx, c)
}

// during bounds the time exactly; ids do so nearly.
func (s *Search) during(c *condition) {
	if s.From != 0 {
		c.and("at >= ?", s.From)
	}
	if s.To != 0 {
		c.and("at < ?", s.To)
	}
}

// from has the source be one that leads were counted by.
func (s *Search) from(ctx context.Context, tx *sql.Tx, c *condition) error {
	if s.Source == "" {
		return nil
	}
	var ref int64
	err := tx.QueryRowContext(ctx, "SELECT ref FROM sources WHERE id = ?", s.Source).Scan(&ref)
	if errors.Is(err, sql.ErrNoRows) {
		c.never = true
		return nil
	}
	c.and("source = ?", ref)
	return err
}

// oneLead narrows the search down to a lead, or to that of an auction: which was sold
// soon after it, or in it.
func (s *Search) oneLead(ctx context.Context, tx *sql.Tx, c *condition) error {
	if s.Lead != (market.LeadID{}) {
		c.and("id = ?", s.Lead[:])
		c.around(instant(s.Lead), time.Millisecond)
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
	c.around(instant(s.Auction), soldWithin)
	return nil
}

// soldWithin is how far apart an auction and the lead that is sold in it may be, amply.
const soldWithin = time.Minute

func (r *Report) foundLead(rows *sql.Rows) (l FoundLead, err error) {
	var id, auction []byte
	var campaign, supplier, buyer market.Ref
	var source sql.NullString
	err = rows.Scan(&id, &l.At, &campaign, &supplier, &buyer, &l.Status, &l.Delivery, &l.Reason, &l.Price, &l.Payout, &l.Currency, &auction,
		&source, &l.State, &l.Posts, &l.Test, &l.Erased)
	copy(l.ID[:], id)
	copy(l.Auction[:], auction)
	src := r.opt.Source
	l.Campaign, l.Supplier, l.Buyer = src.NameOf(event.NameCampaign, campaign), src.NameOf(event.NameSupplier, supplier), src.NameOf(event.NameBuyer, buyer)
	l.Source = source.String
	return l, err
}
