package main

import (
	"context"

	"pingpost/loadtest/refreceiver"
)

// webhookReceiverCmd runs a reference receiver of webhooks, an endpoint for tests of an
// exchange. It ends with an interrupt and then prints its counts.
type webhookReceiverCmd struct {
	Listen string `default:"127.0.0.1:8091" placeholder:"HOST:PORT" help:"Address to listen on; port 0 takes a free one (${default})."`
	Secret string `required:"true" env:"PINGPOST_WEBHOOK_SECRET" placeholder:"SECRET" help:"The webhook's secret: whsec_ and base64."`
	Seed   uint64 `default:"1" placeholder:"NUMBER" help:"Seed of the random choices (${default})."`
	Quiet  bool   `short:"q" help:"Print neither the address at the start nor the account at the end."`

	Latency  string  `placeholder:"TIMES" help:"How long each answer takes: 20ms, 10ms-50ms, exp:20ms, normal:20ms,5ms, lognormal:20ms,0.5 or table:50=9ms,99=80ms; with +hang:0.01 after it, one answer in a hundred never arrives. No delay by default."`
	FailRate float64 `default:"0" placeholder:"SHARE" help:"Share of deliveries to answer with 500, from 0 to 1 (${default}). In half of these the receiver has stored the event, so it arrives again."`

	MalformedRate float64 `default:"0" placeholder:"SHARE" help:"Share of deliveries to answer badly, from 0 to 1 (${default}): a connection reset in the head, a head with one byte every tenth of a second, or a complete head with such a slow body. In half of the first two cases the receiver has stored the event, so it arrives again."`
}

// Help returns the text that --help shows after the usage line.
func (*webhookReceiverCmd) Help() string {
	return `An endpoint for webhooks, for testing an exchange: a supplier's events, and the
notifications of a channel of alerts. It accepts them on every path, verifies
both signatures, acknowledges with 204, and drops repeats by the event's id.

  pingpost receiver --secret whsec_c2VjcmV0
  pingpost receiver --secret whsec_c2VjcmV0 --latency 10ms-50ms --fail-rate 0.2

An exchange on the same machine sends webhooks to it if a supplier has

  webhook: {url: "http://127.0.0.1:8091/hooks", secret: whsec_c2VjcmV0}

and trusted_networks contains 127.0.0.0/8.

GET /stats counts events by type, distinct events and repeats. bad_signatures and
changed in it must stay 0. GET /events lists every event, one JSON object a line.`
}

// Run starts the webhook receiver and serves until SIGINT or SIGTERM.
func (c *webhookReceiverCmd) Run(ctx context.Context) error {
	options, err := c.parseOptions()
	if err != nil {
		return err
	}
	receiver, err := refreceiver.New(options)
	if err != nil {
		return err
	}
	return serveAndPrintStats(ctx, "receiver", receiver, c.Quiet, receiver.Stats)
}

func (c *webhookReceiverCmd) parseOptions() (refreceiver.Options, error) {
	latency, err := parseOptionalLatency("--latency", c.Latency)
	return refreceiver.Options{Listen: c.Listen, Secret: c.Secret, Seed: c.Seed, Latency: latency, FailRate: c.FailRate, MalformedRate: c.MalformedRate}, err
}
