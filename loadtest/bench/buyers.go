package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"pingpost/loadtest/refbuyer"
)

// buyersSpec describes the buyers of an auction: so many, each on a port of its
// own, in one process.
type buyersSpec struct {
	Buyers int
	Delay  time.Duration // of every answer
}

// remembered is how many pings and posts a buyer knows again. A run sends no
// key twice, so the little that stays in the processor's caches will do for
// pings; of posts each one is asked for afterwards.
const (
	rememberedPings = 1 << 10
	rememberedPosts = 1 << 16
)

// serveBuyers are the buyers. They end when their standard input does.
func serveBuyers(in io.Reader, out io.Writer) error {
	var spec buyersSpec
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
	var at serving
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
	_, _ = io.Copy(io.Discard, in) // to its end
	stop()
	for range spec.Buyers {
		err = errors.Join(err, <-ended)
	}
	return err
}

func (b *bench) startBuyers(spec buyersSpec) (*process, error) {
	return startRole(b.ctx, b.cores.client, "role-buyers", spec)
}

// bought is what the buyers say of themselves, all together.
type bought struct {
	refbuyer.Stats
	leads map[string]time.Time // by the buyer's id: when its 201 went out
}

// ask asks every buyer what it has bought.
func (b *bench) ask(buyers *process) (all bought, err error) {
	all.leads = map[string]time.Time{}
	for _, addr := range buyers.Buyers {
		var stats refbuyer.Stats
		if err := b.read("http://"+addr+"/stats", func(d *json.Decoder) error { return d.Decode(&stats) }); err != nil {
			return all, err
		}
		all.Pings += stats.Pings
		all.Accepted += stats.Accepted
		all.DoubleSold += stats.DoubleSold
		all.ContactSeen += stats.ContactSeen
		all.Forgotten += stats.Forgotten
		all.PeakPings = max(all.PeakPings, stats.PeakPings)
		err := b.read("http://"+addr+"/leads", func(d *json.Decoder) error {
			for d.More() {
				var lead refbuyer.Lead
				if err := d.Decode(&lead); err != nil {
					return err
				}
				all.leads[lead.LeadID] = lead.AnsweredAt
			}
			return nil
		})
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

func (b *bench) read(url string, decode func(*json.Decoder) error) error {
	request, err := http.NewRequestWithContext(b.ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: status %d", url, response.StatusCode)
	}
	return decode(json.NewDecoder(response.Body))
}
