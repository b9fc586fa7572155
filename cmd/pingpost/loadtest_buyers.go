package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"pingpost/loadtest/refbuyer"
	"pingpost/loadtest/refreceiver"
	"pingpost/loadtest/scenario"
)

// loadtestBuyersCmd runs the buyers of a load test and its webhook receiver. They have a
// process of their own, so that their processor time counts neither for the exchange nor for
// the client. One process runs all of them, so that hundreds fit a small machine.
type loadtestBuyersCmd struct {
	Spec string `arg:"" type:"existingfile"`
}

// buyersProcessSpec describes the buyers and the webhook receiver to loadtestBuyersCmd, which reads
// it from a JSON file.
type buyersProcessSpec struct {
	Seed     uint64
	Buyers   []loadTestBuyerSpec
	Webhooks *scenario.Webhooks
	Secret   string // of the webhooks
	Remember int    // posts and events of each
}

// loadTestBuyerSpec describes one buyer of a load test: its id and its behaviour in the scenario.
type loadTestBuyerSpec struct {
	ID string
	scenario.Buyers
}

// buyerAndReceiverAddresses has the addresses of the buyers and of the webhook receiver. loadtestBuyersCmd
// prints it as a line of JSON.
type buyerAndReceiverAddresses struct {
	Buyers   map[string]string `json:"buyers"`
	Receiver string            `json:"receiver"`
}

// Run starts the buyers and the webhook receiver and serves until SIGTERM.
func (c *loadtestBuyersCmd) Run(ctx context.Context) error {
	text, err := os.ReadFile(c.Spec)
	if err != nil {
		return err
	}
	var spec buyersProcessSpec
	if err := json.Unmarshal(text, &spec); err != nil {
		return fmt.Errorf("%s: %w", c.Spec, err)
	}
	return spec.serveAndPrintAddresses(ctx)
}

func (s *buyersProcessSpec) serveAndPrintAddresses(ctx context.Context) error {
	addresses := buyerAndReceiverAddresses{Buyers: map[string]string{}}
	var all []referenceBuyerOrReceiver
	for i := range s.Buyers {
		options, err := s.Buyers[i].referenceBuyerOptions(s.Seed+uint64(i), s.Remember)
		if err != nil {
			return err
		}
		buyer, err := refbuyer.New(options)
		if err != nil {
			return err
		}
		addresses.Buyers[s.Buyers[i].ID] = "http://" + buyer.Addr().String()
		all = append(all, buyer)
	}
	if s.Webhooks != nil {
		latency, err := parseOptionalLatency("webhooks.latency", s.Webhooks.Latency)
		if err != nil {
			return err
		}
		receiver, err := refreceiver.New(refreceiver.Options{Secret: s.Secret, Seed: s.Seed, Latency: latency, Remember: s.Remember})
		if err != nil {
			return err
		}
		addresses.Receiver = "http://" + receiver.Addr().String()
		all = append(all, receiver)
	}
	if err := json.NewEncoder(os.Stdout).Encode(addresses); err != nil {
		return err
	}
	ended := make(chan error, len(all))
	for _, one := range all {
		go func() { ended <- one.Serve(ctx) }()
	}
	var err error
	for range all {
		err = errors.Join(err, <-ended)
	}
	return err
}

// referenceBuyerOptions returns the reference buyer's options for this buyer. maxRememberedPosts is the
// greatest number of posts that the buyer remembers; 0 means the default of refbuyer.
func (b *loadTestBuyerSpec) referenceBuyerOptions(seed uint64, maxRememberedPosts int) (o refbuyer.Options, err error) {
	o = refbuyer.Options{
		Seed: seed, NoBidRate: b.NoBid, RejectRate: b.Reject, FailRate: b.Fail,
		Remember: maxRememberedPosts, RememberPings: rememberedPings,
	}
	var wrong [3]error
	o.Bid, wrong[0] = refbuyer.ParsePricing(b.Bid)
	o.Latency, wrong[1] = parseOptionalLatency("latency", b.Latency)
	o.PostLatency, wrong[2] = parseOptionalLatency("post_latency", b.PostLatency)
	return o, errors.Join(wrong[:]...)
}

// rememberedPings is the number of pings that each buyer remembers. It is small, because no ping of a
// load test comes again, and hundreds of buyers have to fit into memory.
const rememberedPings = 1 << 10
