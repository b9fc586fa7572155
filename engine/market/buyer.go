package market

import (
	"time"

	"pingpost/engine/market/calendar"
)

// Buyer is a configured buyer of leads. Its own limits hold in every campaign; its filter set in
// a campaign can only narrow them. Its states and filters are stored in its filter sets, because
// a filter is compiled for one campaign's fields.
type Buyer struct {
	Ref  PermanentNumber
	ID   BuyerID
	Name string

	Ping        *OutboundEndpoint // nil: the buyer cannot be pinged
	Post        *OutboundEndpoint // nil: leads are only recorded
	TestPing    *OutboundEndpoint // the same for test leads; a buyer with a Post and no TestPost gets none
	TestPost    *OutboundEndpoint
	PostTimeout time.Duration

	PingRate       int                      // pings a second, burst the same
	MaxConnections int                      // connections for pings, and as many for posts
	Schedule       *calendar.WeeklySchedule // nil: always open
	Caps           []*Cap
	Suppression    []*SuppressionListDefinition
	Funded         bool  // false: its money is unlimited
	Credit         Money // how far below zero its balance may go
	Zone           *time.Location
}

// DefaultMaxConnections is the default limit of a buyer's connections. It is enough for 1,000
// auctions of 5 s at once with a buyer that never answers. A ping holds its connection a
// sixteenth longer than its auction.
const DefaultMaxConnections = 1200

// OutboundEndpoint is an address of a buyer or supplier to which the exchange sends requests, with its
// authentication and its adapter protocol. It holds the name of its secret, never the secret, and so does
// each logged post.
type OutboundEndpoint struct {
	URL        string
	Credential string // name of the secret; empty: none
	Header     string // carries the secret, or the token that it is exchanged for
	Scheme     string // precedes the secret, such as "Bearer "

	// OAuth exchanges the secret, an OAuth client's, for tokens, and the request
	// carries a token. Nil: the request carries the secret itself.
	OAuth *OutboundOAuthClient

	// AdapterProtocol describes the requests and answers of an endpoint that does not
	// implement the buyer contract; nil: it does. Adapter writes the bodies. The
	// endpoint of a logged intent has only the AdapterProtocol, because its body is complete.
	AdapterProtocol *AdapterProtocol
	Adapter         BodyTemplate

	// Certified: the buyer implements the contract and certifies that it answers a repeat
	// as it answered the first send. A logged intent has Trusted instead.
	Certified bool
}

// MayRepeatPost reports whether the exchange may send a post again if the first one may have
// arrived. The contract allows it: a buyer recognizes a repeated lead by the Idempotency-Key. An
// endpoint with an adapter protocol must be configured as idempotent.
func (e *OutboundEndpoint) MayRepeatPost() bool {
	return e.AdapterProtocol == nil || e.AdapterProtocol.Idempotent
}

// CountsRefusalOfRepeatedPost reports whether a refusal of a repeated post counts as a refusal of the
// lead. Many buyers do not keep their first answer, and refuse a lead that they have accepted. So
// a refusal counts only if the buyer certifies that it repeats its first answer.
func (e *OutboundEndpoint) CountsRefusalOfRepeatedPost() bool {
	return e.Certified || e.AdapterProtocol != nil && e.AdapterProtocol.Idempotent
}

// OutboundOAuthClient identifies the exchange at an endpoint's token server (RFC 6749, 4.4: client
// credentials). The client's secret is the endpoint's Credential.
type OutboundOAuthClient struct {
	TokenURL string
	ClientID string
	Scope    string // names with spaces between; empty: the client's default
}
