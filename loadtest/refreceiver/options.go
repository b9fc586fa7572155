package refreceiver

import (
	"errors"
	"fmt"
	"time"

	"pingpost/loadtest/refbuyer"
	"pingpost/outbound/webhook/signature"
)

// Options configure the receiver. With only a secret it accepts every event at once.
type Options struct {
	Listen string // address and port; default: a free port of 127.0.0.1
	Secret string // whsec_ and base64; every delivery must be signed with it
	Seed   uint64 // of all random decisions

	Latency  refbuyer.Latency // response time; nil: no delay
	FailRate float64          // share of attempts answered with 500, from 0 to 1; half of these are accepted first

	// MalformedRate is the share of attempts, from 0 to 1, with a malformed answer: a
	// reset in the middle of the head or a slow head, both accepted or not, or a complete
	// head with a slow body.
	MalformedRate float64

	Remember int // events stored with their body; default 200,000
}

const defaultRemember = 200_000

func (o *Options) complete() {
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	if o.Remember <= 0 {
		o.Remember = defaultRemember
	}
}

func (o *Options) check() (signature.Key, error) {
	key, ok := signature.ParseSecret(o.Secret)
	if !ok {
		return nil, errors.New("secret: give the webhook's secret, whsec_ followed by base64")
	}
	if !(o.FailRate >= 0 && o.FailRate <= 1) {
		return nil, fmt.Errorf("fail rate %v: give a share from 0 to 1", o.FailRate)
	}
	if !(o.MalformedRate >= 0 && o.MalformedRate <= 1) {
		return nil, fmt.Errorf("malformed rate %v: give a share from 0 to 1", o.MalformedRate)
	}
	return key, nil
}

// tolerance is the largest accepted difference between a timestamp and the receiver's
// clock.
const tolerance = 5 * time.Minute
