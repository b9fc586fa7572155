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

// UnsoldSummary explains why leads were not sold.
type UnsoldSummary struct {
	From, To      int64 // Unix nanoseconds, full hours
	Leads, Unsold int64
	Reasons       []NamedCount // unsold leads, by reason
	Campaigns     []NamedCount // the same leads, by campaign
	Outcomes      []NamedCount // pings whose buyer did not get the lead, and rejected posts, by outcome
	Buyers        []NamedCount // the same, by outcome and buyer
}

// NamedCount is a line of a list in an UnsoldSummary: a name and how often it occurred.
type NamedCount struct {
	Name  string // the reason, the campaign, the outcome
	Buyer string // in Buyers only
	N     int64
}

// SummarizeUnsold counts the unsold leads of the search's campaign, supplier and time by reason. By
// outcome, it counts the pings and posts of all these leads, sold or not, whose buyer did not get the
// lead. It includes every hour that the time touches and that the database has completely. With a
// buyer, the bids are that buyer's and the leads are all, because an unsold lead has no buyer.
func (r *Report) SummarizeUnsold(ctx context.Context, s LeadOrAuctionQuery) (*UnsoldSummary, error) {
	u := new(UnsoldSummary)
	err := r.readServedDatabase(ctx, s.To, func(ctx context.Context, tx *sql.Tx, at *databaseProgress) error {
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
			err = &InvalidQuestionError{"buyer", "a name that is or was configured"}
		}
		if err != nil {
			return err
		}
		by := &unsoldCounts{map[NamedCount]int64{}, map[NamedCount]int64{}, map[NamedCount]int64{}, map[NamedCount]int64{}}
		for _, part := range projection.SplitIntoSpans(first*projection.Hours, last*projection.Hours, []int64{projection.Days, projection.Hours}) {
			if err := r.addReasonSums(ctx, tx, u, by, part, c, s.Buyer); err != nil {
				return err
			}
		}
		by.appendSortedTo(u)
		return nil
	})
	return u, err
}

func (r *Report) addReasonSums(ctx context.Context, tx *sql.Tx, u *UnsoldSummary, counts *unsoldCounts, span projection.UnitSpan, c *searchCondition, onlyBuyer string) error {
	rows, err := tx.QueryContext(ctx, "SELECT campaign, buyer, reason, sum(leads), sum(unmatched), sum(bids) FROM "+reasonTable+
		" WHERE unit = ? AND start >= ? AND start < ?"+c.where+" GROUP BY campaign, buyer, reason", append([]any{span.Unit, span.First, span.End}, c.args...)...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var campaign, buyer market.PermanentNumber
		var reason projection.NonSaleCause
		var n projection.NonSaleReasonCounts
		if err := rows.Scan(&campaign, &buyer, &reason, &n[0], &n[1], &n[2]); err != nil {
			return err
		}
		if buyer == 0 {
			u.Leads += n[0]
			u.Unsold += n[1]
			counts.reasons[NamedCount{Name: reason.String()}] += n[1]
			counts.campaigns[NamedCount{Name: r.opt.Source.NameOf(event.ObjectCampaign, campaign)}] += n[1]
			continue
		}
		name := r.opt.Source.NameOf(event.ObjectBuyer, buyer)
		if onlyBuyer == "" || onlyBuyer == name {
			counts.outcomes[NamedCount{Name: reason.String()}] += n[2]
			counts.buyers[NamedCount{Name: reason.String(), Buyer: name}] += n[2]
		}
	}
	return rows.Err()
}

// unsoldCounts adds up the counts of the lists in an UnsoldSummary.
type unsoldCounts struct{ reasons, campaigns, outcomes, buyers map[NamedCount]int64 }

func (by *unsoldCounts) appendSortedTo(summary *UnsoldSummary) {
	for list, counts := range map[*[]NamedCount]map[NamedCount]int64{
		&summary.Reasons: by.reasons, &summary.Campaigns: by.campaigns, &summary.Outcomes: by.outcomes, &summary.Buyers: by.buyers,
	} {
		for t, n := range counts {
			if t.N = n; n > 0 {
				*list = append(*list, t)
			}
		}
		slices.SortFunc(*list, func(x, y NamedCount) int {
			return cmp.Or(cmp.Compare(y.N, x.N), cmp.Compare(x.Buyer, y.Buyer), cmp.Compare(x.Name, y.Name))
		})
	}
}
