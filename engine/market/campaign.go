package market

import "time"

// Method is how a campaign picks the buyer.
type Method uint8

const (
	Waterfall  Method = 1
	RoundRobin Method = 2
	Weighted   Method = 3
	PingPost   Method = 4
)

func (m Method) String() string {
	switch m {
	case Waterfall:
		return "waterfall"
	case RoundRobin:
		return "round_robin"
	case Weighted:
		return "weighted"
	case PingPost:
		return "ping_post"
	}
	return "unknown"
}

// Campaign is one line of business: what leads it takes, who may send them,
// who may buy them, and how one buyer is picked.
type Campaign struct {
	Ref         Ref
	ID          CampaignID
	Name        string
	Vertical    string
	SubVertical string

	Suppliers map[SupplierID]struct{} // empty: all
	Method    Method
	Currency  Currency
	Zone      *time.Location
	Floor     Money
	Payout    Payout

	BidTimeout     time.Duration // of an auction: 2 to 5 s
	PostReserve    time.Duration // of the ceiling, kept for the post
	ConsentSources map[string]struct{}
	ConsentHosts   []string // of certificates; *.name: those below the name; empty: any
	Suppression    []*List
	Duplicates     DuplicateRule
	Returns        ReturnRule
	Mapping        *Mapping
	Filters        []Filter
	Caps           []*Cap
	Lineup         []Seat // by priority, then buyer id
}

// Seat is a buyer's place in a campaign: who may buy there, and on what terms
// beyond those the buyer states of itself.
type Seat struct {
	Buyer    *Buyer
	Priority int
	Weight   int       // at least 1
	Price    Money     // for the methods without an auction
	States   StateSet  // the buyer's own and the seat's, what both take
	Filters  []Filter  // the buyer's own and the seat's
	Schedule *Schedule // beside the buyer's own; nil: always open
	Caps     []*Cap    // of the pair
}

// Takes tells whether the supplier may send leads to the campaign.
func (c *Campaign) Takes(s SupplierID) bool {
	if len(c.Suppliers) == 0 {
		return true
	}
	_, ok := c.Suppliers[s]
	return ok
}
