package child

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
// All
// posts are kept, because the benchmark asks for each.
const (
	rememberedPings = 1 << 10
	rememberedPosts = 1 << 16
)

// serveBuyers runs the buyers until the standard input ends.
func serveBuyers(in io.Reader, out io.Writer) error {
	var spec BuyersSpec
	input := json.NewDecoder(in)
	if err := input.Decode(&spec); err != nil {
		return fmt.Errorf("cannot read the specification: %w", err)
	}
	bid, err := refbuyer.ParsePricing("8-20")
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan error, spec.Buyers)
	var at Addresses
	for i := range spec.Buyers {
		options := refbuyer.Options{
			Seed: uint64(i) + 1, Bid: bid, Valid: 10 * time.Second, RememberPings: rememberedPings, Remember: rememberedPosts,
		}
		if spec.Delay > 0 {
			options.Latency = refbuyer.Uniform{Min: spec.Delay, Max: spec.Delay}
		}
		buyer, err := refbuyer.New(options)
		if err != nil {
			return err
		}
		at.Buyers = append(at.Buyers, buyer.Addr().String())
		go func() { ended <- buyer.Serve(ctx) }()
	}
	at.Listen = at.Buyers[0]
	if err := json.NewEncoder(out).Encode(at); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, in) // wait for the end of the input
	stop()
	for range spec.Buyers {
		err = errors.Join(err, <-ended)
	}
	return err
}
