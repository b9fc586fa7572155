package trial

import "pingpost/engine/market"

// Target is an exchange to test, and the others around it.
type Target struct {
	Addr  string // host and port, plain HTTP
	Admin string // address of its operators, such as http://127.0.0.1:9090; empty: nobody asks for its figures

	Supplier  string
	APIKey    string   // for ingests
	Campaigns []string // that ingests are for, in turn
	Token     string   // access token, for pings and posts
	Vertical  string   // of these

	Buyers   map[string]string // where those listen that can be asked what they took, by their ids
	Receiver string            // of the supplier's webhooks; empty: none can be asked

	// Whole is a target whose money is known: suppliers are paid the price.
	Whole bool
}

// Sale is a lead that the exchange says it has sold.
type Sale struct {
	Lead  string // the exchange's id
	Buyer string
	Money market.Money // that the supplier is paid
}
