package market

import "time"

// Buyer buys leads. What it says of itself holds in every campaign; a seat in
// one can only narrow it. Its states and filters stand in its seats, since a
// filter is compiled against one campaign's fields.
type Buyer struct {
	Ref  Ref
	ID   BuyerID
	Name string

	Post        *Endpoint // nil: leads are recorded for it, nothing is sent
	PostTimeout time.Duration

	PingRate    int       // pings a second, burst the same
	Schedule    *Schedule // nil: always open
	Caps        []*Cap
	Suppression []*List
	Funded      bool  // false: its money is not limited
	Credit      Money // how far below zero its balance may go
	Zone        *time.Location
}

// Endpoint is where and how a buyer is spoken to. The secret itself is state;
// the catalog, and every logged intent, knows only its name.
type Endpoint struct {
	URL        string
	Credential string // name of the secret; empty: none
	Header     string // header that carries it
	Scheme     string // what stands before it, such as "Bearer "
}
