package refbuyer

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"pingpost/engine/market"
)

// Options configure the buyer. The zero value accepts every lead at once and bids for
// none. A rate is a share from 0 to 1.
type Options struct {
	Listen string // address and port; default: a free port of 127.0.0.1
	Seed   uint64 // of all random decisions

	Bid       Pricing           // price of a bid, and of a lead without a bid
	Currency  string            // default USD
	Valid     time.Duration     // validity of a bid; default 5 s
	States    market.USStateSet // states with bids; default all
	NoBidRate float64           // share of other pings without a bid

	Token         string        // required bearer token; without Token and OAuth, any caller may sell
	OAuth         OAuth         // client that may request access tokens
	TokenLifetime time.Duration // of access tokens; default one hour
	ExpireEarly   float64       // share of access tokens that are refused early
	PingsASecond  int           // more pings get 429; 0: unlimited

	Latency           Latency // response time of a ping; nil: no delay
	PostLatency       Latency // response time of a post; nil: Latency
	RejectRate        float64 // share of posts that are rejected
	FailRate          float64 // share of post attempts that get 500
	MalformedRate     float64 // share of pings with a malformed answer
	MalformedPostRate float64 // share of post attempts that are accepted with a malformed answer
	ForgetRate        float64 // share of posts that are accepted without an answer and rejected on retry
	TwiceRate         float64 // share of answers that are sent twice on an open connection

	Remember      int // remembered posts; default 200,000. Older ones are forgotten
	RememberPings int // remembered pings; default 65,536
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

// complete sets the defaults.
func (o *Options) complete() {
	o.Listen = cmp.Or(o.Listen, "127.0.0.1:0")
	o.Currency = cmp.Or(o.Currency, defaultCurrency)
	o.Valid = cmp.Or(o.Valid, defaultValid)
	o.States = cmp.Or(o.States, market.AllStates)
	o.TokenLifetime = cmp.Or(o.TokenLifetime, defaultLifetime)
	o.Remember = cmp.Or(o.Remember, defaultRemember)
	o.RememberPings = cmp.Or(o.RememberPings, defaultRememberPings)
	if o.PostLatency == nil {
		o.PostLatency = o.Latency
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

// Disturb sets a small share of every fault for which the options have no value: no-bids,
// rejections, failures, malformed answers, tokens that expire early, a rate limit, and
// answers that are slow or never arrive.
func (o *Options) Disturb() {
	o.NoBidRate = cmp.Or(o.NoBidRate, 0.1)
	o.RejectRate = cmp.Or(o.RejectRate, 0.03)
	o.FailRate = cmp.Or(o.FailRate, 0.03)
	o.MalformedRate = cmp.Or(o.MalformedRate, 0.05)
	o.MalformedPostRate = cmp.Or(o.MalformedPostRate, 0.02)
	o.ExpireEarly = cmp.Or(o.ExpireEarly, 0.25)
	o.PingsASecond = cmp.Or(o.PingsASecond, 100)
	if o.Latency == nil {
		o.Latency = Hanging{0.005, LogNormal{20 * time.Millisecond, 0.7}}
	}
	if o.PostLatency == nil {
		o.PostLatency = Hanging{0.002, LogNormal{20 * time.Millisecond, 0.5}}
	}
}
