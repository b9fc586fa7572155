package child

import (
	"context"
	"errors"
	"time"

	"pingpost/loadtest/refbuyer"
)

// BuyersSpec describes the buyers of an auction: one process with a port for each.
type BuyersSpec struct {
	Buyers int
	Delay  time.Duration // response time
}

// These are the numbers of pings and posts that a buyer recognizes as repeated. A run
// never repeats a key, so for pings a number that fits the processor's cache is enough.
// All posts are kept, because the benchmark asks for each.
const (
	rememberedPings = 1 << 10
	rememberedPosts = 1 << 16
)

func startBuyers(spec *BuyersSpec) (at Addresses, stop func() error, err error) {
	bid, err := refbuyer.ParsePricing("8-20")
	if err != nil {
		return at, nil, err
	}
	var buyers []*refbuyer.Buyer
	ended := make(chan error, spec.Buyers)
	for i := range spec.Buyers {
		options := refbuyer.Options{
			Seed: uint64(i) + 1, Bid: bid, Valid: 10 * time.Second, RememberPings: rememberedPings, Remember: rememberedPosts,
		}
		if spec.Delay > 0 {
			options.Latency = refbuyer.Uniform{Min: spec.Delay, Max: spec.Delay}
		}
		buyer, err := refbuyer.New(options)
		if err != nil {
			return at, nil, err
		}
		buyers, at.Buyers = append(buyers, buyer), append(at.Buyers, buyer.Addr().String())
		go func() { ended <- buyer.Serve(context.Background()) }()
	}
	at.Listen = at.Buyers[0]
	return at, func() (err error) {
		for _, buyer := range buyers {
			err = errors.Join(err, buyer.Close())
		}
		for range buyers {
			err = errors.Join(err, <-ended)
		}
		return err
	}, nil
}
