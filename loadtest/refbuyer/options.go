package refbuyer

import (
	"errors"
	"fmt"
	"time"

	"pingpost/engine/market"
)

// Options say how the buyer behaves. The zero value takes every lead at once
// and bids for none. A rate is a share from 0 to 1.
type Options struct {
	Listen string // address and port; a free port of 127.0.0.1 by default
	Seed   uint64 // of everything that is left to chance

	Bid       Pricing         // what it offers for a ping, and owes for a lead that comes without a bid
	Currency  string          // of it; USD by default
	Valid     time.Duration   // how long a bid stands; 5 s by default
	States    market.StateSet // where it buys; everywhere by default
	NoBidRate float64         // share of pings it passes all the same

	Token         string        // bearer token to ask for; empty, and no OAuth: anyone may sell
	OAuth         OAuth         // who may fetch access tokens
	TokenLifetime time.Duration // of these; an hour by default
	ExpireEarly   float64       // share of them that are refused before their time
	PingsASecond  int           // more are answered 429; 0: no limit

	Latency           Latency // how long an answer to a ping takes; nil: no longer than it takes
	PostLatency       Latency // likewise, to a post; nil: as to a ping
	RejectRate        float64 // share of posts that are refused for good
	FailRate          float64 // share of attempts to post that are answered 500
	MalformedRate     float64 // share of pings that are answered with nonsense
	MalformedPostRate float64 // share of attempts to post that are taken, and answered with nonsense
	ForgetRate        float64 // share of posts that are taken without an answer, and refused when they come again
	TwiceRate         float64 // share of answers to pings and posts that are given twice, on a connection that goes on

	Remember      int // posts that are remembered at most; 200,000. Older ones are forgotten as if never sent
	RememberPings int // likewise, pings; 65,536
}

const (
	defaultRemember      = 200_000
	defaultRememberPings = 1 << 16
	defaultCurrency      = "USD"
	defaultValid         = 5 * time.Second
	defaultLifetime      = time.Hour

	maxRemember = 10_000_000
	maxRate     = 1_000_000
	maxValid    = 24 * time.Hour
)

// complete fills in what was left to us.
func (o *Options) complete() {
	fill(&o.Listen, "127.0.0.1:0")
	fill(&o.Currency, defaultCurrency)
	fill(&o.Valid, defaultValid)
	fill(&o.States, market.AllStates)
	fill(&o.TokenLifetime, defaultLifetime)
	fill(&o.Remember, defaultRemember)
	fill(&o.RememberPings, defaultRememberPings)
	if o.PostLatency == nil {
		o.PostLatency = o.Latency
	}
}

func fill[T comparable](field *T, value T) {
	var none T
	if *field == none {
		*field = value
	}
}

func (o *Options) check() error {
	var wrong []error
	for _, share := range [...]struct {
		name  string
		value float64
	}{
		{"no-bid rate", o.NoBidRate},
		{"expire-early rate", o.ExpireEarly},
		{"reject rate", o.RejectRate},
		{"fail rate", o.FailRate},
		{"malformed rate", o.MalformedRate},
		{"malformed post rate", o.MalformedPostRate},
		{"forget rate", o.ForgetRate},
		{"twice rate", o.TwiceRate},
	} {
		if !isShare(share.value) {
			wrong = append(wrong, fmt.Errorf("%s %v: give a share from 0 to 1", share.name, share.value))
		}
	}
	if _, ok := market.ParseCurrency(o.Currency); !ok {
		wrong = append(wrong, fmt.Errorf("currency %q: give a code of three capital letters, such as USD", o.Currency))
	}
	if o.Valid < 0 || o.Valid > maxValid {
		wrong = append(wrong, fmt.Errorf("bids valid for %v: give a time above 0, up to %v", o.Valid, maxValid))
	}
	if o.TokenLifetime < time.Second || o.TokenLifetime%time.Second != 0 {
		wrong = append(wrong, fmt.Errorf("token lifetime %v: give whole seconds, at least one", o.TokenLifetime))
	}
	if (o.OAuth.Client == "") != (o.OAuth.Secret == "") {
		wrong = append(wrong, errors.New("oauth: give the client and its secret, as client:secret"))
	}
	if o.PingsASecond < 0 || o.PingsASecond > maxRate {
		wrong = append(wrong, fmt.Errorf("rate of %d pings a second: give a number up to %d", o.PingsASecond, maxRate))
	}
	if o.Remember < 0 || o.Remember > maxRemember || o.RememberPings < 0 || o.RememberPings > maxRemember {
		wrong = append(wrong, fmt.Errorf("remember %d posts and %d pings: give numbers above 0, up to %d", o.Remember, o.RememberPings, maxRemember))
	}
	return errors.Join(wrong...)
}

func isShare(rate float64) bool { return rate >= 0 && rate <= 1 }
