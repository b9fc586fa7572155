package report

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/report/projection"
)

// Unmatched explains why leads were not sold.
type Unmatched struct {
	From, To      int64 // Unix nanoseconds, full hours
	Leads, Unsold int64
	Reasons       []ReasonCount // unsold leads, by reason
	Campaigns     []ReasonCount // the same leads, by campaign
	Outcomes      []ReasonCount // pings whose buyer did not get the lead, and rejected posts, by outcome
	Buyers        []ReasonCount // the same, by buyer
}

// ReasonCount is a line of an Unmatched list: a name and how often it occurred.
type ReasonCount struct {
	Name  string // the reason, the campaign, the outcome
	Buyer string // in Buyers only
	N     int64
}

// Unmatched counts the reasons for the leads of the search's campaign, supplier and time,
// and the outcomes of their bids. It includes every hour that the time touches. With a
// buyer, the bids are that buyer's and the leads are all, because an unsold lead has no
// buyer.
func (r *Report) Unmatched(ctx context.Context, s Search) (*Unmatched, error) {
	u := new(Unmatched)
	err := r.readServedFile(ctx, s.To, func(ctx context.Context, tx *sql.Tx, at *filePosition) error {
		first := projection.DivideRoundingDown(max(s.From, at.begins+int64(time.Hour)-1), int64(time.Hour))
		if s.From >= at.begins {
			first = projection.DivideRoundingDown(s.From, int64(time.Hour))
		}
		last := max(first, projection.DivideRoundingDown(s.To-1, int64(time.Hour))+1)
		u.From, u.To = first*int64(time.Hour), last*int64(time.Hour)
		c, src := new(searchCondition), r.opt.Source
		err := errors.Join(
			c.addNameCondition(src, event.ObjectCampaign, "campaign", "", "campaign = ?", s.Campaign),
			c.addNameCondition(src, event.ObjectSupplier, "supplier", "", "supplier = ?", s.Supplier),
		)
		if err == nil && s.Buyer != "" && src.RefOf(event.ObjectBuyer, s.Buyer) == 0 {
			err = &Fault{"buyer", "a name that was configured once"}
		}
		if err != nil {
			return err
		}
		by := &reasonCounts{map[ReasonCount]int64{}, map[ReasonCount]int64{}, map[ReasonCount]int64{}, map[ReasonCount]int64{}}
		for _, part := range projection.SplitIntoSpans(first*projection.Hours, last*projection.Hours, []int64{projection.Days, projection.Hours}) {
			if err := r.addReasonSums(ctx, tx, u, by, part, c, s.Buyer); err != nil {
				return err
			}
		}
		by.appendTo(u)
		return nil
	})
	return u, err
}

func (r *Report) addReasonSums(ctx context.Context, tx *sql.Tx, u *Unmatched, by *reasonCounts, of projection.Span, c *searchCondition, only string) error {
	rows, err := tx.QueryContext(ctx, "SELECT campaign, buyer, reason, sum(leads), sum(unmatched), sum(bids) FROM "+reasonTable+
		" WHERE unit = ? AND start >= ? AND start < ?"+c.where+" GROUP BY campaign, buyer, reason", append([]any{of.Unit, of.First, of.Last}, c.args...)...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var campaign, buyer market.Ref
		var reason projection.Cause
		var n projection.ReasonSums
		if err := rows.Scan(&campaign, &buyer, &reason, &n[0], &n[1], &n[2]); err != nil {
			return err
		}
		if buyer == 0 {
			u.Leads += n[0]
			u.Unsold += n[1]
			by.reasons[ReasonCount{Name: reason.String()}] += n[1]
			by.campaigns[ReasonCount{Name: r.opt.Source.NameOf(event.ObjectCampaign, campaign)}] += n[1]
			continue
		}
		name := r.opt.Source.NameOf(event.ObjectBuyer, buyer)
		if only == "" || only == name {
			by.outcomes[ReasonCount{Name: reason.String()}] += n[2]
			by.buyers[ReasonCount{Name: reason.String(), Buyer: name}] += n[2]
		}
	}
	return rows.Err()
}

// reasonCounts adds up the counts of the lists in Unmatched.
type reasonCounts struct{ reasons, campaigns, outcomes, buyers map[ReasonCount]int64 }

func (by *reasonCounts) appendTo(u *Unmatched) {
	for list, counts := range map[*[]ReasonCount]map[ReasonCount]int64{
		&u.Reasons: by.reasons, &u.Campaigns: by.campaigns, &u.Outcomes: by.outcomes, &u.Buyers: by.buyers,
	} {
		for t, n := range counts {
			if t.N = n; n > 0 {
				*list = append(*list, t)
			}
		}
		slices.SortFunc(*list, func(x, y ReasonCount) int {
			return cmp.Or(cmp.Compare(y.N, x.N), cmp.Compare(x.Buyer, y.Buyer), cmp.Compare(x.Name, y.Name))
		})
	}
}
