package explain

import "encoding/json"

// Explanation is what became of a lead or an auction, as the log tells it: what
// the admin API answers, and what pingpost explain prints. Both the buyers'
// prices and the sellers' payouts are in it, and no contact data.
type Explanation struct {
	Kind      string `json:"kind"`        // ingest, post, ping or availability
	ID        string `json:"id"`          // of the lead, or of the auction where that is all there is
	LeadID    string `json:"lead_id"`     // empty: it was asked about, and no lead came
	AuctionID string `json:"auction_id"`  // empty: there was no auction
	SellerID  string `json:"seller_id"`   // the seller's own: of its auction in a ping, of its lead in a post
	RequestID string `json:"request_id"`  // of the call that brought it
	Supplier  string `json:"supplier_id"` //
	Campaign  string `json:"campaign_id"` // empty: none was found
	Method    string `json:"method"`      // empty where the configuration of that time cannot be had
	Catalog   uint32 `json:"catalog_version"`
	Hops      uint32 `json:"hops,omitempty"`   // exchanges that a ping had been through before
	Test      bool   `json:"test,omitempty"`   // a test: nothing was taken for it, whatever its price
	Erased    bool   `json:"erased,omitempty"` // nobody knows any more who the person was

	Received Instant `json:"received_at"`
	Decided  Instant `json:"decided_at"`           // when the decision was durable
	BidsDue  Instant `json:"bids_due_at,omitzero"` // of an auction
	Until    Instant `json:"valid_until,omitzero"` // of our bid to the seller
	Settled  Instant `json:"settled_at,omitzero"`  // when what became of the delivery was known

	Status      string  `json:"status"`             // of a lead OPEN, ACCEPTED or UNMATCHED, or what its buyer reports: contacted, qualified, sold or returned; of a ping NO_BID, BID, TAKEN (by a lead that is not acknowledged) or SOLD
	Delivery    string  `json:"delivery,omitempty"` // of a lead that was to be sold
	Reason      string  `json:"reason,omitempty"`   // as the seller was told it
	Answer      *Answer `json:"answer,omitempty"`   // what the call was answered; absent where that is not known, or nobody was left to be answered
	Why         string  `json:"why"`                // in words
	DuplicateOf string  `json:"duplicate_of,omitempty"`

	// Of the sale that stands, or is under way; a ping's is that of the lead which
	// took one of its offers up. Absent where there is none.
	Buyer  string  `json:"buyer_id,omitempty"`
	Price  *Amount `json:"price,omitempty"`
	Payout *Amount `json:"payout,omitempty"`
	Margin *Amount `json:"margin,omitempty"`

	Fields     map[string]json.RawMessage `json:"fields"` // what was said of the lead, contact fields aside
	Candidates []Candidate                `json:"candidates"`
	Offers     []Offer                    `json:"offers,omitempty"`      // of a ping: what its seller was told, best first
	Rejected   []Claim                    `json:"turned_away,omitempty"` // of a ping: leads that came for its bid and were not sent to the buyer
	Posts      []Post                     `json:"posts"`

	Reports  []Report  `json:"reports,omitempty"`  // after the sale, in order
	Webhooks []Webhook `json:"webhooks,omitempty"` // in the order of their causes

	Auction   *Explanation   `json:"auction,omitempty"`   // of a lead sold at the bid of an earlier ping: that ping
	Leads     []*Explanation `json:"leads,omitempty"`     // of a ping: those that took its offers up, in order
	Truncated bool           `json:"truncated,omitempty"` // the log was not searched to its end: later tries may be missing
	Notes     []string       `json:"notes,omitempty"`     // in words, what cannot be told, and why
}

// Answer is what a call was answered, the first time.
type Answer struct {
	At     Instant `json:"at"`     // when it was settled
	Status int     `json:"status"` // HTTP
	Result string  `json:"says"`   // a lead's status, or bid or no_bid of a ping; of an error its code
	Reason string  `json:"reason,omitempty"`
}

// Offer is a bid that a supplier was told of.
type Offer struct {
	Buyer  string  `json:"buyer_id"`
	Price  *Amount `json:"price"`  // that the buyer bid
	Payout *Amount `json:"payout"` // that the supplier was told
	Until  Instant `json:"valid_until"`
	Claims []Claim `json:"taken_by,omitempty"` // in order; all but the last were refused
}

// Taken is a lead that took an offer up, and how it stands.
type Claim struct {
	Lead     string `json:"lead_id"`
	Status   string `json:"status"`
	Delivery string `json:"delivery"`
	Reason   string `json:"reason,omitempty"`
}

// Candidate is one seat of the campaign's lineup and what became of it.
type Candidate struct {
	Buyer   string       `json:"buyer_id"` // empty where the configuration of that time cannot be had
	Seat    uint32       `json:"seat"`
	Outcome string       `json:"outcome"`
	Pinged  bool         `json:"asked"`               // it was pinged
	Elapsed Milliseconds `json:"elapsed_ms,omitzero"` // from the auction's beginning to its answer
	Bid     *Amount      `json:"bid,omitempty"`       // also where it does not stand
	Payout  *Amount      `json:"payout,omitempty"`
	Until   Instant      `json:"valid_until,omitzero"`
	Status  uint32       `json:"status,omitempty"` // HTTP
	Fault   Fault        `json:"fault,omitempty"`
	Reason  string       `json:"reason,omitempty"` // its own word
}

// Post is the way of a lead to one buyer's endpoint.
type Post struct {
	Buyer       string       `json:"buyer_id"`
	Intended    Instant      `json:"intended_at"` // when the intent was durable, before the first try
	Price       *Amount      `json:"price"`
	Payout      *Amount      `json:"payout"`
	Tries       []Try        `json:"tries"` // those that left it open
	Settlements []Settlement `json:"settlements"`
}

// Try is one send to the buyer after which another one follows.
type Try struct {
	Attempt uint32  `json:"attempt"` // from 1
	Ended   Instant `json:"ended_at"`
	Status  uint32  `json:"status,omitempty"`
	Fault   Fault   `json:"fault,omitempty"`
	Verdict string  `json:"verdict,omitempty"` // refused, unreached, unknown or busy; absent in logs of earlier programs
	Code    string  `json:"code,omitempty"`    // the buyer's own word for a refusal
}

// Settlement is what a post came to, one after the other: delivered, refused,
// pending, unknown, confirmed, released or resent.
type Settlement struct {
	At        Instant      `json:"at"`
	Outcome   string       `json:"settlement"`
	Status    uint32       `json:"status,omitempty"`
	Fault     Fault        `json:"fault,omitempty"` // of the last attempt; a timeout where one was under way
	Failed    uint32       `json:"failed_attempts,omitempty"`
	Elapsed   Milliseconds `json:"elapsed_ms,omitzero"` // of the last attempt
	Code      string       `json:"code,omitempty"`      // the buyer's own word
	BuyerLead string       `json:"buyer_lead_id,omitempty"`
	Reason    string       `json:"reason,omitempty"`
	Next      string       `json:"next_buyer_id,omitempty"` // to whom the lead went then
}
