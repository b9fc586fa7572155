package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"pingpost/engine/market"
	"pingpost/loadtest/refbuyer"
)

// parseOptions returns the reference buyer's options from the flags. The error joins the errors of all
// texts that cannot be parsed. refbuyer.New checks the numbers.
func (c *referenceBuyerCmd) parseOptions() (refbuyer.Options, error) {
	o := refbuyer.Options{
		Listen:            c.Listen,
		Seed:              c.Seed,
		Currency:          c.Currency,
		NoBidRate:         c.NoBidRate,
		Token:             c.Token,
		ExpireEarly:       c.ExpireEarlyRate,
		PingsASecond:      c.Rate,
		RejectRate:        c.RejectRate,
		FailRate:          c.FailRate,
		MalformedRate:     c.MalformedRate,
		MalformedPostRate: c.MalformedPostRate,
		ForgetRate:        c.ForgetRate,
		TwiceRate:         c.TwiceRate,
	}
	var wrong [7]error
	o.Bid, wrong[0] = refbuyer.ParsePricing(c.Bid)
	o.Valid, wrong[1] = parsePositiveDuration("--valid", c.Valid)
	if o.States, wrong[2] = market.ParseUSStatesOrAll(c.States); wrong[2] != nil {
		wrong[2] = fmt.Errorf("--states: %w", wrong[2])
	}
	o.Latency, wrong[3] = parseOptionalLatency("--latency", c.Latency)
	o.PostLatency, wrong[4] = parseOptionalLatency("--post-latency", c.PostLatency)
	o.TokenLifetime, wrong[5] = parsePositiveDuration("--token-lifetime", c.TokenLifetime)
	if c.OAuth != "" {
		client, secret, _ := strings.Cut(c.OAuth, ":")
		if o.OAuth = (refbuyer.OAuth{Client: client, Secret: secret}); client == "" || secret == "" {
			wrong[6] = errors.New("--oauth: give the client id and its secret, as client:secret")
		}
	}
	if c.Chaos {
		o.Disturb()
	}
	return o, errors.Join(wrong[:]...)
}

// parseOptionalLatency parses a latency. An empty text means no latency. The error names the flag or
// the member of a scenario.
func parseOptionalLatency(name, text string) (refbuyer.Latency, error) {
	if text == "" {
		return nil, nil
	}
	latency, err := refbuyer.ParseLatency(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return latency, nil
}

// parsePositiveDuration parses a duration above zero. The error names the flag.
func parsePositiveDuration(flagName, text string) (time.Duration, error) {
	t, err := time.ParseDuration(text)
	if err != nil || t <= 0 {
		return 0, fmt.Errorf("%s %q: give a time above 0, such as 5s", flagName, text)
	}
	return t, nil
}
