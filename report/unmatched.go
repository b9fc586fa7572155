package report

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
)

// Unmatched is why leads of some time were not sold.
type Unmatched struct {
	Leads, Unsold int64
	Reasons       []Tally // leads that nobody bought, by why
	Campaigns     []Tally // the same leads, by campaign
	Outcomes      []Tally // bids, and posts that were refused, by what they came to instead of a sale
	Buyers        []Tally // the same, by buyer
}

// Tally is how many there were of something.
type Tally struct {
	Name  string // the reason, the campaign, the outcome
	Buyer string // of Buyers
	N     int64
}

// Unmatched adds up what a question's leads and bids came to. What it is By is not
// looked at. With a buyer in Only its bids are those of that buyer; the leads are those of
// all, since what nobody bought is no buyer's.
func (r *Report) Unmatched(ctx context.Context, q Question) (*Unmatched, error) {
	only := q.Only[ByBuyer]
	q.By, q.Only = []Dimension{ByCampaign, ByBuyer, ByReason}, withoutBuyer(q.Only)
	answer, err := r.Ask(ctx, q)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	u, by := new(Unmatched), &tallies{map[Tally]int64{}, map[Tally]int64{}, map[Tally]int64{}, map[Tally]int64{}}
	for {
		row, err := answer.Next()
		if errors.Is(err, io.EOF) {
			by.into(u)
			return u, nil
		}
		if err != nil {
			return nil, err
		}
		u.add(by, row, only)
	}
}

func withoutBuyer(only map[Dimension]string) map[Dimension]string {
	rest := make(map[Dimension]string, len(only))
	for d, name := range only {
		if d != ByBuyer {
			rest[d] = name
		}
	}
	return rest
}

// tallies are counts, in one map for each list.
type tallies struct{ reasons, campaigns, outcomes, buyers map[Tally]int64 }

func (u *Unmatched) add(by *tallies, row *Row, only string) {
	reason, buyer := row.Names[ByReason], row.Names[ByBuyer]
	if buyer == "" {
		u.Leads += row.measures[countLeads]
		u.Unsold += row.measures[countUnmatched]
		by.reasons[Tally{Name: reason}] += row.measures[countUnmatched]
		by.campaigns[Tally{Name: row.Names[ByCampaign]}] += row.measures[countUnmatched]
		return
	}
	if reason == "" || only != "" && only != buyer {
		return
	}
	n := row.measures[countPings] + row.measures[countRejects]
	by.outcomes[Tally{Name: reason}] += n
	by.buyers[Tally{Name: reason, Buyer: buyer}] += n
}

func (by *tallies) into(u *Unmatched) {
	for list, counts := range map[*[]Tally]map[Tally]int64{
		&u.Reasons: by.reasons, &u.Campaigns: by.campaigns, &u.Outcomes: by.outcomes, &u.Buyers: by.buyers,
	} {
		for t, n := range counts {
			if t.N = n; n > 0 {
				*list = append(*list, t)
			}
		}
		slices.SortFunc(*list, func(x, y Tally) int {
			return cmp.Or(cmp.Compare(y.N, x.N), cmp.Compare(x.Buyer, y.Buyer), cmp.Compare(x.Name, y.Name))
		})
	}
}

// Span is a time with its beginning and end at full quarters, which is what sums are of.
func Span(from, to int64) (int64, int64) {
	return quarterOf(from) * quarter, (quarterOf(to-1) + 1) * quarter
}
