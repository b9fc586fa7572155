package refreceiver

import (
	"errors"
	"fmt"
	"time"

	"pingpost/loadtest/refbuyer"
	"pingpost/outbound/webhook/signature"
)

// Options say how the receiver behaves. The zero value but for a secret takes
// every event at once.
type Options struct {
	Listen string // address and port; a free port of 127.0.0.1 by default
	Secret string // whsec_ and base64; every delivery has to be signed by it
	Seed   uint64 // of everything that is left to chance

	Latency  refbuyer.Latency // how long an answer takes; nil: no longer than it takes
	FailRate float64          // share of attempts that are answered 500, from 0 to 1; half of them are taken first

	// MalformedRate is the share of attempts, from 0 to 1, that are answered badly: by a
	// reset in the middle of the head, by a head of a byte every tenth of a second, both of
	// them taken first or not, or by a proper head and then a body like that.
	MalformedRate float64

	Remember int // events whose bodies are remembered at most; 200,000
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

// tolerance is how far a timestamp may be from the receiver's clock.
const tolerance = 5 * time.Minute
