package market

import "time"

// Buyer buys leads. What it says of itself holds in every campaign; a seat in
// one can only narrow it. Its states and filters stand in its seats, since a
// filter is compiled against one campaign's fields.
type Buyer struct {
	Ref  Ref
	ID   BuyerID
	Name string

	Ping        *Endpoint // nil: it cannot be asked for bids
	Post        *Endpoint // nil: leads are recorded for it, nothing is sent
	TestPing    *Endpoint // the same for test leads; a buyer with a Post and no TestPost gets none
	TestPost    *Endpoint
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
	Header     string // header that carries it, or the token that it is changed for
	Scheme     string // what stands before that, such as "Bearer "

	// OAuth says that the secret is an OAuth client's and is changed for
	// tokens, which are presented in its place. Nil: it is presented itself.
	OAuth *OAuthClient

	// Dialect is how the endpoint is spoken to where it does not speak the
	// contract; nil: it does. Adapter writes the bodies of that dialect. An
	// endpoint out of a logged intent has the dialect alone, since its body is
	// written already.
	Dialect *Dialect
	Adapter *Adapter
}

// Idempotent tells whether a post that may have arrived can be sent again, and
// a refusal of the second one believed. The contract promises it.
func (e *Endpoint) Idempotent() bool { return e.Dialect == nil || e.Dialect.Idempotent }

// OAuthClient is who the exchange is at a token endpoint (RFC 6749, 4.4: client
// credentials). Its secret is the endpoint's Credential.
type OAuthClient struct {
	TokenURL string
	ClientID string
	Scope    string // names with spaces between; empty: what the client has
}
