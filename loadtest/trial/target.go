package trial

import "pingpost/engine/market"

// Target is the exchange to test, with its buyers and webhook receiver.
type Target struct {
	Addr  string // host and port, plain HTTP
	Admin string // admin URL, such as http://127.0.0.1:9090; empty: no metrics

	Supplier  string
	APIKey    string   // for ingest
	Campaigns []string // for ingest, in turn
	Token     string   // access token for pings and posts
	Vertical  string   // for pings and posts

	Buyers   map[string]string // URLs of the buyers that can be queried, by buyer id
	Receiver string            // URL of the webhook receiver; may be empty

	// Whole means that the payout equals the buyer's price, so that amounts can be
	// compared.
	Whole bool
}

// Sale is a lead that was sold according to the exchange.
type Sale struct {
	Lead  string // the exchange's lead id
	Buyer string
	Money market.Money // the supplier's payout
}
