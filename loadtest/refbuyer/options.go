package refbuyer

import (
	"errors"
	"fmt"

	"pingpost/engine/market"
)

// Options say how the buyer behaves. The zero value takes every lead at once
// and bids for none.
type Options struct {
	Listen string       // address and port; a free port of 127.0.0.1 by default
	Bid    market.Money // what it offers for every ping and owes for every lead; zero: no bid
	Token  string       // bearer token to ask for; empty: anyone may sell

	Latency    Latency // how long an answer takes; nil: no longer than it takes
	RejectRate float64 // share of posts that are refused for good, 0 to 1
	FailRate   float64 // share of attempts to post that are answered 500, 0 to 1
	Seed       uint64  // of everything that is left to chance

	Remember int // posts that are remembered at most; 200,000. Older ones are forgotten as if never sent
}

const defaultRemember = 200_000

func (o *Options) check() error {
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	if o.Remember == 0 {
		o.Remember = defaultRemember
	}
	var wrong []error
	if !(o.RejectRate >= 0 && o.RejectRate <= 1) {
		wrong = append(wrong, fmt.Errorf("reject rate %v: give a share from 0 to 1", o.RejectRate))
	}
	if !(o.FailRate >= 0 && o.FailRate <= 1) {
		wrong = append(wrong, fmt.Errorf("fail rate %v: give a share from 0 to 1", o.FailRate))
	}
	if o.Bid < 0 || o.Bid > market.MaxMoney {
		wrong = append(wrong, fmt.Errorf("bid %v: give an amount from 0 to %v", o.Bid, market.MaxMoney))
	}
	if o.Remember < 0 {
		wrong = append(wrong, fmt.Errorf("remember %d posts: give a number above 0", o.Remember))
	}
	return errors.Join(wrong...)
}
