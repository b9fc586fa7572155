package explain

import (
	"encoding/json"

	"pingpost/engine/exclusion"
)

// Explanation describes the course of a lead or an auction, as read from the log. The admin API
// returns it, and `pingpost explain` prints it. It contains the buyers' prices and the sellers'
// payouts, and no contact data.
type Explanation struct {
	Kind      string `json:"kind"`       // ingest, post, ping or availability
	ID        string `json:"id"`         // of the lead, or of the auction if there is no lead
	LeadID    string `json:"lead_id"`    // empty for a ping
	AuctionID string `json:"auction_id"` // empty if there was no auction
	SellerID  string `json:"seller_id"`  // the seller's own id: of its auction (ping) or its lead (post)
	RequestID string `json:"request_id"` // of the call that created the lead or the auction
	Supplier  string `json:"supplier_id"`
	Campaign  string `json:"campaign_id"` // empty if no campaign matched
	Method    string `json:"method"`      // empty if the configuration of that time is unavailable
	Catalog   uint32 `json:"catalog_version"`
	Hops      uint32 `json:"hops,omitempty"`   // exchanges that forwarded the ping before
	Test      bool   `json:"test,omitempty"`   // a test: no cap, funds or turn was used
	Erased    bool   `json:"erased,omitempty"` // the person's data was erased

	Received NanosAsRFC3339 `json:"received_at"`
	Decided  NanosAsRFC3339 `json:"decided_at"`           // when the decision became durable
	BidsDue  NanosAsRFC3339 `json:"bids_due_at,omitzero"` // of an auction
	Until    NanosAsRFC3339 `json:"valid_until,omitzero"` // end of our bid to the seller
	Settled  NanosAsRFC3339 `json:"settled_at,omitzero"`  // when the delivery ended

	Status      string               `json:"status"`             // lead: OPEN, ACCEPTED, UNMATCHED, or the buyer's report contacted, qualified, sold or returned; ping: NO_BID, BID, TAKEN (a lead claimed it, not yet acknowledged) or SOLD
	Delivery    string               `json:"delivery,omitempty"` // of a lead that had a buyer
	Reason      string               `json:"reason,omitempty"`   // the reason code in the seller's answer
	Answer      *AnswerToSupplier    `json:"answer,omitempty"`   // the first answer to the call; absent if it is unknown or there was no answer
	Why         string               `json:"why"`                // the summary in words
	Rule        *exclusion.UnmetRule `json:"rule,omitempty"`     // of the campaign itself, if it rejected the lead before any buyer
	DuplicateOf string               `json:"duplicate_of,omitempty"`
	Terms       string               `json:"terms,omitempty"` // id of the entry of the campaign's terms that applies by supplier and source

	// The current sale, complete or in delivery. A ping has the sale of the lead that
	// claimed one of its offers. Absent without a sale.
	Buyer  string  `json:"buyer_id,omitempty"`
	Price  *Amount `json:"price,omitempty"`
	Payout *Amount `json:"payout,omitempty"`
	Margin *Amount `json:"margin,omitempty"`

	Fields     map[string]json.RawMessage `json:"fields"` // the lead's fields without contact data
	Candidates []FilterSetCandidate       `json:"candidates"`
	Offers     []OfferToSupplier          `json:"offers,omitempty"`      // of a ping: the offers to its seller, best first
	Rejected   []OfferClaim               `json:"turned_away,omitempty"` // of a ping: leads that claimed its bid and were rejected before the post
	Posts      []DeliveryToBuyer          `json:"posts"`

	Reports  []BuyerReportOrOperatorDecision `json:"reports,omitempty"`  // after the sale, in order of time
	Webhooks []SupplierWebhook               `json:"webhooks,omitempty"` // in the order of the events that caused them

	Auction   *Explanation   `json:"auction,omitempty"`   // of a lead that claimed a bid: the ping
	Leads     []*Explanation `json:"leads,omitempty"`     // of a ping: the leads that claimed its offers, in order of time
	Truncated bool           `json:"truncated,omitempty"` // the search ended at its limit: later attempts may be missing
	Notes     []string       `json:"notes,omitempty"`     // gaps in this explanation, with the reasons

	stoppedAtAnswer          bool // the seller got a 502 or 504 after the last attempt: an operator decides about the delivery
	campaignClosed           bool // its own schedule excluded buyers
	bidRejectedByUnknownRule bool // of a lead that may have accepted a bid: of the campaign or of the bid's buyer
}

// AnswerToSupplier is the exchange's first answer to the ingest, post or ping that is explained.
type AnswerToSupplier struct {
	At     NanosAsRFC3339 `json:"at"`     // when the result was final
	Status int            `json:"status"` // HTTP
	Result string         `json:"says"`   // a lead's status, bid or no_bid for a ping, or an error code
	Reason string         `json:"reason,omitempty"`
}

// OfferToSupplier is a bid that the supplier could claim.
type OfferToSupplier struct {
	Buyer  string         `json:"buyer_id"`
	Price  *Amount        `json:"price"`  // the buyer's bid
	Payout *Amount        `json:"payout"` // the supplier's share
	Until  NanosAsRFC3339 `json:"valid_until"`
	Claims []OfferClaim   `json:"taken_by,omitempty"` // in order of time; buyers refused all but the last
}

// OfferClaim is a lead that claimed an offer, with its current state.
type OfferClaim struct {
	Lead     string `json:"lead_id"`
	Status   string `json:"status"`
	Delivery string `json:"delivery"`
	Reason   string `json:"reason,omitempty"`
}

// FilterSetCandidate is one filter set of the campaign (a buyer's entry with filters, price and caps),
// with its outcome in the auction.
type FilterSetCandidate struct {
	Buyer   string               `json:"buyer_id"` // empty if the configuration of that time is unavailable
	Seat    uint32               `json:"seat"`
	Set     string               `json:"filter_set,omitempty"` // the filter set's own id, if it has one
	Outcome string               `json:"outcome"`
	Pinged  bool                 `json:"asked"`               // the buyer got a ping
	Elapsed NanosAsMilliseconds  `json:"elapsed_ms,omitzero"` // from the start of the auction to the buyer's answer
	Bid     *Amount              `json:"bid,omitempty"`       // also if the bid was invalid
	Payout  *Amount              `json:"payout,omitempty"`
	Until   NanosAsRFC3339       `json:"valid_until,omitzero"`
	Status  uint32               `json:"status,omitempty"` // HTTP
	Fault   FaultName            `json:"fault,omitempty"`
	Reason  string               `json:"reason,omitempty"` // the buyer's own text
	Rule    *exclusion.UnmetRule `json:"rule,omitempty"`   // by which the buyer dropped out; absent for a buyer that did not

	rateLimit rateLimitCause // of the outcome rate_limited
}

// DeliveryToBuyer is the delivery of a lead to one buyer's endpoint.
type DeliveryToBuyer struct {
	Buyer       string                `json:"buyer_id"`
	Intended    NanosAsRFC3339        `json:"intended_at"` // when the intention became durable, before the first attempt
	Price       *Amount               `json:"price"`
	Payout      *Amount               `json:"payout"`
	Tries       []FailedPostAttempt   `json:"tries"` // attempts that did not end the delivery
	Settlements []DeliveryStateChange `json:"settlements"`
}

// FailedPostAttempt is a failed attempt to post the lead, after which the exchange made another attempt.
type FailedPostAttempt struct {
	Attempt uint32         `json:"attempt"` // from 1
	Ended   NanosAsRFC3339 `json:"ended_at"`
	Status  uint32         `json:"status,omitempty"`
	Fault   FaultName      `json:"fault,omitempty"`
	Verdict string         `json:"verdict,omitempty"` // refused, unreached, unknown or busy; absent in logs of earlier versions
	Code    string         `json:"code,omitempty"`    // the buyer's own code of the refusal
}

// DeliveryStateChange describes, in an explanation, one change in the state of a delivery: delivered,
// refused, pending, unknown, confirmed, released or resent. DeliveryToBuyer lists them in order of
// time.
type DeliveryStateChange struct {
	At        NanosAsRFC3339      `json:"at"`
	Outcome   string              `json:"settlement"`
	Status    uint32              `json:"status,omitempty"`
	Fault     FaultName           `json:"fault,omitempty"` // of the last attempt; a timeout if it was still running
	Failed    uint32              `json:"failed_attempts,omitempty"`
	Elapsed   NanosAsMilliseconds `json:"elapsed_ms,omitzero"` // of the last attempt
	Code      string              `json:"code,omitempty"`      // the buyer's own code
	BuyerLead string              `json:"buyer_lead_id,omitempty"`
	Reason    string              `json:"reason,omitempty"`
	Next      string              `json:"next_buyer_id,omitempty"` // the buyer that got the lead next
}
