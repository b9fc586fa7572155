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

// Options configure a buyer. Bid and Post are required; both must be safe for concurrent use.
type Options struct {
	// Bid returns the bid for a lead. The error [NoBid] is a normal answer. Any other error is
	// answered with 500; its text is not sent. The context ends when the exchange stops
	// waiting.
	Bid func(ctx context.Context, ping *model.PingRequest) (Bid, error)

	// Post accepts a lead and returns the buyer's own id for it, or refuses it with the error
	// [Refusal]. After any other error the exchange sends the lead again.
	Post func(ctx context.Context, post *model.LeadDelivery) (id string, err error)

	Bearer string // expected token in Authorization: Bearer
	APIKey string // expected x-api-key; if both are empty, every caller is accepted

	Store Store            // keeps the answers to posts; default: in memory
	Now   func() time.Time // default: time.Now
}

// Bid is an offer for a lead.
type Bid struct {
	Amount     float64   // in units of Currency, with at most six decimals
	Currency   string    // default: USD
	Token      string    // the post repeats it; "": a random token
	ValidUntil time.Time // default: in five seconds

	FiltersPassed []string // the buyer's filters that the lead has passed; optional
}

// NoBid is the reason for no bid. As the error of Options.Bid it is a normal answer.
type NoBid struct {
	Reason string // a code for programs, such as state
	Detail string // a text for people
}

func (n NoBid) Error() string { return "no bid: " + n.Reason }

// Refusal is the reason to refuse a lead. As the error of Options.Post it is a normal answer.
// The exchange receives both fields, so they must not contain personal data.
type Refusal struct {
	Reason string // a code for programs, such as duplicate
	Detail string // a text for people
}

func (r Refusal) Error() string { return "refused: " + r.Reason }

// bidWindow is the default validity of a bid, and the longest time that the exchange waits for
// one.
const bidWindow = 5 * time.Second

// Buyer is a buyer's endpoint. It is an http.Handler.
type Buyer struct {
	options Options

	mu       sync.Mutex
	inFlight map[string]chan struct{} // posts in progress by key; the channel is closed at the end
}

// New returns a buyer, or an error if a required option is missing.
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
	return &Buyer{options: options, inFlight: map[string]chan struct{}{}}, nil
}

// randomToken returns an unguessable name.
func randomToken(prefix string) string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return prefix + hex.EncodeToString(b[:])
}
