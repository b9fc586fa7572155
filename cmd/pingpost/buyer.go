package main

import (
	"context"

	"pingpost/loadtest/refbuyer"
)

// referenceBuyerCmd runs a reference buyer, an endpoint for tests of an exchange. It ends
// with an interrupt and then prints its counts.
type referenceBuyerCmd struct {
	Listen string `default:"127.0.0.1:8090" placeholder:"HOST:PORT" help:"Address to listen on; port 0 takes a free one (${default})."`
	Seed   uint64 `default:"1" placeholder:"NUMBER" help:"Seed of the random choices: with the same seed, the same requests get the same answers (${default})."`
	Quiet  bool   `short:"q" help:"Print neither the address at the start nor the account at the end."`
	Chaos  bool   `help:"Set a small share of every failure for which no other flag gives a share."`

	Bid       string   `group:"Bidding" default:"10" placeholder:"PRICES" help:"What to bid: 12.50, or 8-20 to spread evenly, or either by state: CA=20,TX=10-15,*=9. 0 is no bid (${default})."`
	Currency  string   `group:"Bidding" default:"USD" placeholder:"CODE" help:"Currency of the bids (${default})."`
	Valid     string   `group:"Bidding" default:"5s" placeholder:"TIME" help:"How long a bid is valid; a later post is answered 410 (${default})."`
	States    []string `group:"Bidding" placeholder:"CODE" help:"States to buy in; all by default."`
	NoBidRate float64  `group:"Bidding" default:"0" placeholder:"SHARE" help:"Share of other pings without a bid, from 0 to 1 (${default})."`

	Latency           string  `group:"Answering" placeholder:"TIMES" help:"How long each answer takes: 20ms, 10ms-50ms, exp:20ms, normal:20ms,5ms, lognormal:20ms,0.5 or table:50=9ms,99=80ms; with +hang:0.01 after it, one answer in a hundred never arrives. No delay by default."`
	PostLatency       string  `group:"Answering" placeholder:"TIMES" help:"The same for posts; that of --latency by default."`
	RejectRate        float64 `group:"Answering" default:"0" placeholder:"SHARE" help:"Share of posts to reject finally (${default})."`
	FailRate          float64 `group:"Answering" default:"0" placeholder:"SHARE" help:"Share of attempts to post to answer with 500 (${default}). In half of these the buyer has accepted the lead, which the answer does not show."`
	MalformedRate     float64 `group:"Answering" default:"0" placeholder:"SHARE" help:"Share of pings to answer with a malformed answer (${default})."`
	MalformedPostRate float64 `group:"Answering" default:"0" placeholder:"SHARE" help:"Share of attempts to post to accept with a malformed answer (${default})."`
	ForgetRate        float64 `group:"Answering" default:"0" placeholder:"SHARE" help:"Share of posts to accept without an answer: the buyer closes the connection and rejects each repeat (${default})."`
	TwiceRate         float64 `group:"Answering" default:"0" placeholder:"SHARE" help:"Share of answers to pings and posts to send twice on the same connection (${default})."`
	Rate              int     `group:"Answering" default:"0" placeholder:"NUMBER" help:"Pings per second to accept; more are answered 429 with Retry-After. 0 is no limit (${default})."`

	Token           string  `group:"Who may sell" env:"PINGPOST_BUYER_TOKEN" placeholder:"TOKEN" help:"Bearer token that the exchange must send. Without it and without --oauth, the buyer accepts every request."`
	OAuth           string  `name:"oauth" group:"Who may sell" env:"PINGPOST_BUYER_OAUTH" placeholder:"CLIENT:SECRET" help:"Client that requests access tokens at POST /oauth/token and must send them."`
	TokenLifetime   string  `group:"Who may sell" default:"1h" placeholder:"TIME" help:"How long an access token is valid (${default})."`
	ExpireEarlyRate float64 `group:"Who may sell" default:"0" placeholder:"SHARE" help:"Share of access tokens to reject early, after 10 to 100 uses (${default})."`
}

// Help returns the text that --help shows after the usage line.
func (*referenceBuyerCmd) Help() string {
	return `A buyer's endpoint for testing an exchange. It bids for pings on /v1/ping, accepts
leads on /v1/post, and remembers every idempotency key: a repeated ping gets the
same bid, and a repeated lead is not bought again.

  pingpost buyer --bid 8-20 --latency lognormal:20ms,0.5
  pingpost buyer --bid CA=20,TX=10-15,*=9 --states CA,TX,NY --no-bid-rate 0.2
  pingpost buyer --oauth acme:s3cret --token-lifetime 30s --rate 100
  pingpost buyer --latency 10ms-50ms+hang:0.01 --post-latency exp:20ms
  pingpost buyer --chaos --seed 7

GET /stats counts the requests and their answers. double_sold and contact_seen in it
must stay 0: no lead is sold under two keys, and no ping contains contact data.
GET /leads lists every accepted lead, one JSON object a line.

A malformed answer is one of: ` + refbuyer.Malformations() + `.
A post gets only those that do not show whether the lead was accepted. It was.`
}

// Run starts the reference buyer and serves until SIGINT or SIGTERM.
func (c *referenceBuyerCmd) Run(ctx context.Context) error {
	options, err := c.parseOptions()
	if err != nil {
		return err
	}
	buyer, err := refbuyer.New(options)
	if err != nil {
		return err
	}
	return serveAndPrintStats(ctx, "buyer", buyer, c.Quiet, buyer.Stats)
}
