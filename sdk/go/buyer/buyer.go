package buyer

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"sync"
	"time"

	"pingpost/sdk/go/model"
)

// Options are what a buyer is made of. Bid and Post are required; both are called by many
// goroutines at once.
type Options struct {
	// Bid says what the lead of a ping is worth. [NoBid] as the error is an answer like
	// any other; any other error is a fault of ours, which nobody is told. Its context ends
	// when nobody waits for the bid any more.
	Bid func(ctx context.Context, ping *model.PingRequest) (Bid, error)

	// Post takes a lead and gives the id that it has here, or refuses it with [Refusal] as the
	// error. After any other error the exchange sends the lead again.
	Post func(ctx context.Context, post *model.LeadDelivery) (id string, err error)

	Bearer string // what has to be shown as Authorization: Bearer
	APIKey string // what has to be shown as x-api-key; with neither, anybody may call

	Store Store            // remembers what posts were answered; in memory by default
	Now   func() time.Time // time.Now by default
}

// Bid is an offer for a lead.
type Bid struct {
	Amount     float64   // in units of Currency, of at most six decimals
	Currency   string    // USD by default
	Token      string    // what the post will show; made where it is ""
	ValidUntil time.Time // five seconds from now by default

	FiltersPassed []string // which of our filters the lead has passed; may be left out
}

// NoBid is why there is no bid. As the error of Options.Bid it is no fault.
type NoBid struct {
	Reason string // a code for programs, such as state
	Detail string // in words
}

func (n NoBid) Error() string { return "no bid: " + n.Reason }

// Refusal is why a lead is not taken. As the error of Options.Post it is no fault. Both
// go to the exchange, so neither may tell who the lead is.
type Refusal struct {
	Reason string // a code for programs, such as duplicate
	Detail string // in words
}

func (r Refusal) Error() string { return "refused: " + r.Reason }

// window is how long a bid stands that does not say so itself, and the longest that
// anybody waits for one.
const window = 5 * time.Second

// Buyer is an endpoint. It is an http.Handler.
type Buyer struct {
	options Options

	mu      sync.Mutex
	flights map[string]chan struct{} // posts that are being taken, by their keys; closed at the end
}

// New makes a buyer, or says what is missing.
func New(options Options) (*Buyer, error) {
	if options.Bid == nil || options.Post == nil {
		return nil, errors.New("buyer: Options need both Bid and Post")
	}
	if options.Bearer != "" && options.APIKey != "" {
		return nil, errors.New("buyer: Options have Bearer or APIKey, not both")
	}
	if options.Store == nil {
		options.Store = NewMemory(DefaultRemembered)
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	return &Buyer{options: options, flights: map[string]chan struct{}{}}, nil
}

// random is a name that nobody can guess.
func random(prefix string) string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return prefix + hex.EncodeToString(b[:])
}
