package market

import (
	"time"

	"pingpost/engine/market/calendar"
)

// Buyer buys leads. Its own limits hold in every campaign; a filter set in a campaign can
// only narrow them. Its states and filters are in its filter sets, because a filter is
// compiled against one campaign's fields.
type Buyer struct {
	Ref  Ref
	ID   BuyerID
	Name string

	Ping        *Endpoint // nil: the buyer cannot be pinged
	Post        *Endpoint // nil: leads are only recorded
	TestPing    *Endpoint // the same for test leads; a buyer with a Post and no TestPost gets none
	TestPost    *Endpoint
	PostTimeout time.Duration

	PingRate       int                      // pings a second, burst the same
	MaxConnections int                      // connections for pings, and as many for posts
	Schedule       *calendar.WeeklySchedule // nil: always open
	Caps           []*Cap
	Suppression    []*SuppressionList
	Funded         bool  // false: its money is unlimited
	Credit         Money // how far below zero its balance may go
	Zone           *time.Location
}

// DefaultMaxConnections serves 1,000 open auctions of 5 s with a buyer that never answers:
// a ping holds its connection for a sixteenth of that time longer.
const DefaultMaxConnections = 1200

// Endpoint is the address of a buyer's server, with its authentication and dialect. The
// secret itself is state; the catalog and every logged post have only its name.
type Endpoint struct {
	URL        string
	Credential string // name of the secret; empty: none
	Header     string // carries the secret, or the token that it is exchanged for
	Scheme     string // precedes the secret, such as "Bearer "

	// OAuth exchanges the secret, an OAuth client's, for tokens, and the request
	// carries a token. Nil: the request carries the secret itself.
	OAuth *OAuthClient

	// Dialect describes the requests and answers of an endpoint that does not
	// implement the buyer contract; nil: it does. Adapter writes the bodies. The
	// endpoint of a logged intent has only the Dialect, because its body is complete.
	Dialect *Dialect
	Adapter BodyTemplate

	// Certified: the buyer implements the contract and certifies that it answers a repeat
	// as it answered the first send. A logged intent has Trusted instead.
	Certified bool
}

// IsRepeatable reports whether a post that may have arrived can be sent again. The
// contract allows it: a buyer recognizes a repeated lead by the Idempotency-Key.
func (e *Endpoint) IsRepeatable() bool { return e.Dialect == nil || e.Dialect.Idempotent }

// IsRepeatRefusalFinal reports whether a refusal of such a repeat counts as a refusal of the lead.
// The contract alone does not show it: many buyers do not keep the first answer, and
// refuse a lead that they accepted. So each buyer has to certify it.
func (e *Endpoint) IsRepeatRefusalFinal() bool {
	return e.Certified || e.Dialect != nil && e.Dialect.Idempotent
}

// OAuthClient identifies the exchange at a token endpoint (RFC 6749, 4.4: client
// credentials). Its secret is the endpoint's Credential.
type OAuthClient struct {
	TokenURL string
	ClientID string
	Scope    string // names with spaces between; empty: the client's default
}
