package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"pingpost/engine/market"
	"pingpost/loadtest/refbuyer"
)

// buyerCmd runs the reference buyer until it is interrupted, and then says what
// it bought.
type buyerCmd struct {
	Listen     string  `default:"127.0.0.1:8090" placeholder:"HOST:PORT" help:"Address to listen on; port 0 takes a free one (${default})."`
	Latency    string  `default:"0s" placeholder:"TIME" help:"How long each answer takes: a time such as 20ms, or a range such as 10ms-50ms to spread evenly (${default})."`
	RejectRate float64 `default:"0" placeholder:"SHARE" help:"Share of posts to refuse for good, from 0 to 1 (${default})."`
	FailRate   float64 `default:"0" placeholder:"SHARE" help:"Share of attempts to post to answer with 500, from 0 to 1 (${default}). Half of these take the lead first, so that the seller cannot know."`
	Token      string  `env:"PINGPOST_BUYER_TOKEN" placeholder:"TOKEN" help:"Bearer token that sellers have to present. Without one anybody may sell."`
	Bid        string  `default:"10" placeholder:"AMOUNT" help:"What to bid for every ping, in USD; 0 bids for none (${default})."`
	Seed       uint64  `default:"1" placeholder:"NUMBER" help:"Seed of all chance: under the same one the same posts meet the same fate (${default})."`
	Quiet      bool    `short:"q" help:"Print neither the address at the start nor the account at the end."`
}

// Help is what --help says beyond the flags.
func (*buyerCmd) Help() string {
	return `A buyer's endpoint to try an exchange against: it bids for every ping on
/v1/ping, takes leads on /v1/post, and remembers every idempotency key, so that
a lead sent again is not bought again.

GET /stats tells how many came and what became of them; double_sold in it must
stay 0. GET /leads lists every lead taken, one JSON object a line.`
}

// Run serves until SIGINT or SIGTERM.
func (c *buyerCmd) Run() error {
	latency, err := refbuyer.ParseLatency(c.Latency)
	if err != nil {
		return err
	}
	bid, err := market.ParseMoney([]byte(c.Bid))
	if err != nil {
		return fmt.Errorf("bid %q: %w", c.Bid, err)
	}
	buyer, err := refbuyer.New(refbuyer.Options{
		Listen:     c.Listen,
		Bid:        bid,
		Token:      c.Token,
		Latency:    latency,
		RejectRate: c.RejectRate,
		FailRate:   c.FailRate,
		Seed:       c.Seed,
	})
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if !c.Quiet {
		fmt.Printf("reference buyer on http://%s\n", buyer.Addr())
	}
	if err := buyer.Serve(ctx); err != nil {
		return fmt.Errorf("reference buyer: %w", err)
	}
	if c.Quiet {
		return nil
	}
	return json.NewEncoder(os.Stdout).Encode(buyer.Stats())
}
