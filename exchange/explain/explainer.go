// Package explain reconstructs from the log what happened to a lead or an auction: the
// candidates and their outcomes, every attempt to post, the answer to the call, the
// buyer's reports and the supplier's webhooks.
//
// Memory only says where to look: at which entry of the log a lead was decided or an
// auction was held, and which configuration is in force. The rest is read from the log.
//
// Invariants:
//   - An explanation holds no contact data. Free texts of others (reasons, ids) are
//     compared with the lead's contact part and replaced where they repeat it.
//   - An explainer holds no lock of the hot path for longer than one row takes.
//   - The part of the log that one call reads is bounded by searchLimits.
package explain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/wal"
)

// Explainer finds leads and auctions in one exchange's log and explains their course.
type Explainer struct {
	Options
	limits searchLimits
}

// Options are the parts of an exchange that an Explainer reads.
type Options struct {
	Log   *wal.Log
	State *state.State
	// AuctionName returns the name under which memory knows a seller's auction.
	AuctionName func(supplier market.PermanentNumber, sellersAuctionID string, test bool) [16]byte
	// Contact decrypts the contact part of a lead.
	Contact func(*event.LeadDecided) (event.LeadPersonalData, error)
	DataDir string

	// The present data by which rules are reconstructed. A nil function leaves values unknown.
	ActiveCatalog func() *market.Catalog
	// OnList reports whether the present content of a suppression list has the lead.
	OnList func(*market.SuppressionListDefinition, *market.Lead) (listed, loaded bool)
	// EarlierLead returns the accepted lead that the state has under one of the lead's values. buyer is
	// zero for a rule of the whole campaign.
	EarlierLead func(c *market.Campaign, buyer market.PermanentNumber, lead *market.Lead, nowNanos int64) (earlier market.LeadID, found bool, err error)
}

// New returns an explainer with the default searchLimits.
func New(opt Options) *Explainer { return &Explainer{opt, defaultLimits} }

// searchLimits bounds the part of the log that an Explainer reads in one search. One call makes a
// bounded number of searches.
//
// An id contains its time of creation in milliseconds, so a search for its event covers the
// time around it. The event becomes durable after the id was made, within the few seconds that
// a request has. Exceptions are a changed clock and a blocked disk.
type searchLimits struct {
	before, after time.Duration // around an identifier's time
	delivery      time.Duration // from a lead's decision on, for the attempts of its delivery
	entries       int           // in one search
	bytes         int64         // in one search
	events        int           // of one delivery: an operator may resend a lead many times
}

var defaultLimits = searchLimits{
	before: time.Second, after: time.Minute, delivery: time.Hour,
	entries: 1_000_000, bytes: 1 << 30, events: 1000,
}

// JSON encodes the explanation as the admin API returns it.
func (x *Explanation) JSON() ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(x); err != nil {
		return nil, fmt.Errorf("cannot encode an explanation: %w", err)
	}
	return out.Bytes(), nil
}
