package main

import (
	"pingpost/loadtest/refbuyer"
)

// referenceBuyerCmd runs the reference buyer until an interrupt, and then prints its purchases.
type referenceBuyerCmd struct {
	Listen string `default:"127.0.0.1:8090" placeholder:"HOST:PORT" help:"Address to listen on; port 0 takes a free one (${default})."`
	Seed   uint64 `default:"1" placeholder:"NUMBER" help:"Seed of all chance: under the same one the same requests meet the same fate (${default})."`
	Quiet  bool   `short:"q" help:"Print neither the address at the start nor the account at the end."`
	Chaos  bool   `help:"A little of everything that can go wrong, where no other flag says more."`

	Bid       string   `group:"Bidding" default:"10" placeholder:"PRICES" help:"What to bid: 12.50, or 8-20 to spread evenly, or either by state: CA=20,TX=10-15,*=9. 0 is no bid (${default})."`
	Currency  string   `group:"Bidding" default:"USD" placeholder:"CODE" help:"Currency of the bids (${default})."`
	Valid     string   `group:"Bidding" default:"5s" placeholder:"TIME" help:"How long a bid stands; a post after that is answered 410 (${default})."`
	States    []string `group:"Bidding" placeholder:"CODE" help:"States to buy in. Everywhere by default."`
	NoBidRate float64  `group:"Bidding" default:"0" placeholder:"SHARE" help:"Share of pings to pass all the same, from 0 to 1 (${default})."`

	Latency           string  `group:"Answering" placeholder:"TIMES" help:"How long each answer takes: 20ms, 10ms-50ms, exp:20ms, normal:20ms,5ms, lognormal:20ms,0.5 or table:50=9ms,99=80ms; with +hang:0.01 after it, one in a hundred never comes. At once by default."`
	PostLatency       string  `group:"Answering" placeholder:"TIMES" help:"Likewise, for posts alone. That of --latency by default."`
	RejectRate        float64 `group:"Answering" default:"0" placeholder:"SHARE" help:"Share of posts to refuse for good (${default})."`
	FailRate          float64 `group:"Answering" default:"0" placeholder:"SHARE" help:"Share of attempts to post to answer with 500 (${default}). Half of these take the lead first, so that the seller cannot know."`
	MalformedRate     float64 `group:"Answering" default:"0" placeholder:"SHARE" help:"Share of pings to answer with nonsense (${default})."`
	MalformedPostRate float64 `group:"Answering" default:"0" placeholder:"SHARE" help:"Share of attempts to post to take and answer with nonsense (${default})."`
	ForgetRate        float64 `group:"Answering" default:"0" placeholder:"SHARE" help:"Share of posts to take without an answer: the connection is closed, and each repeat is refused (${default})."`
	TwiceRate         float64 `group:"Answering" default:"0" placeholder:"SHARE" help:"Share of answers to pings and posts to give twice, and to go on with the connection (${default})."`
	Rate              int     `group:"Answering" default:"0" placeholder:"NUMBER" help:"Pings to take a second; more are answered 429 with Retry-After. 0 is no limit (${default})."`

	Token           string  `group:"Who may sell" env:"PINGPOST_BUYER_TOKEN" placeholder:"TOKEN" help:"Bearer token that sellers have to present. Without one, and without --oauth, anybody may sell."`
	OAuth           string  `name:"oauth" group:"Who may sell" env:"PINGPOST_BUYER_OAUTH" placeholder:"CLIENT:SECRET" help:"Client that may fetch access tokens at POST /oauth/token, and has to present them."`
	TokenLifetime   string  `group:"Who may sell" default:"1h" placeholder:"TIME" help:"How long an access token is good (${default})."`
	ExpireEarlyRate float64 `group:"Who may sell" default:"0" placeholder:"SHARE" help:"Share of access tokens to refuse before their time, after 10 to 100 uses (${default})."`
}

// Help returns the text of --help after the usage line.
func (*referenceBuyerCmd) Help() string {
	return `A buyer's endpoint to try an exchange against: it bids for pings on /v1/ping,
takes leads on /v1/post, and remembers every idempotency key, so that a ping
sent again gets the same bid, and a lead sent again is not bought again.

  pingpost buyer --bid 8-20 --latency lognormal:20ms,0.5
  pingpost buyer --bid CA=20,TX=10-15,*=9 --states CA,TX,NY --no-bid-rate 0.2
  pingpost buyer --oauth acme:s3cret --token-lifetime 30s --rate 100
  pingpost buyer --latency 10ms-50ms+hang:0.01 --post-latency exp:20ms
  pingpost buyer --chaos --seed 7

GET /stats tells what came and what became of it. double_sold and contact_seen
in it must stay 0: no lead is sold under two keys, and no ping carries a person.
GET /leads lists every lead taken, one JSON object a line.

Nonsense is one of: ` + refbuyer.Malformations() + `.
Posts get those alone that leave open whether the lead was taken. It was.`
}

// Run serves until SIGINT or SIGTERM.
func (c *referenceBuyerCmd) Run() error {
	options, err := c.parseOptions()
	if err != nil {
		return err
	}
	buyer, err := refbuyer.New(options)
	if err != nil {
		return err
	}
	return serveUntilSignal("buyer", buyer, c.Quiet, buyer.Stats)
}
