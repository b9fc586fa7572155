package child

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/loadtest/refbuyer"
)

// BuyersSpec describes the buyers of an auction: one process with a port for each.
type BuyersSpec struct {
	Buyers int
	Delay  time.Duration // response time

	OpenRTB bool // they answer bid requests of OpenRTB, at once, and no pings
}

// These are the numbers of pings and posts that a buyer recognizes as repeated. A run
// never repeats a key, so for pings a number that fits the processor's cache is enough.
// All posts are kept, because the benchmark asks for each.
const (
	rememberedPings = 1 << 10
	rememberedPosts = 1 << 16
)

func startBuyers(spec *BuyersSpec) (at Addresses, stop func() error, err error) {
	if spec.OpenRTB {
		return startBidders(spec)
	}
	bid, err := refbuyer.ParsePricing("8-20")
	if err != nil {
		return at, nil, err
	}
	var buyers []*refbuyer.Buyer
	ended := make(chan error, spec.Buyers)
	for i := range spec.Buyers {
		options := refbuyer.Options{
			Seed: uint64(i) + 1, Bid: bid, Valid: 10 * time.Second, RememberPings: rememberedPings, Remember: rememberedPosts,
		}
		if spec.Delay > 0 {
			options.Latency = refbuyer.Uniform{Min: spec.Delay, Max: spec.Delay}
		}
		buyer, err := refbuyer.New(options)
		if err != nil {
			return at, nil, err
		}
		buyers, at.Buyers = append(buyers, buyer), append(at.Buyers, buyer.Addr().String())
		go func() { ended <- buyer.Serve(context.Background()) }()
	}
	at.Listen = at.Buyers[0]
	return at, func() (err error) {
		for _, buyer := range buyers {
			err = errors.Join(err, buyer.Close())
		}
		for range buyers {
			err = errors.Join(err, <-ended)
		}
		return err
	}, nil
}

// startBidders starts bidders that answer each bid request of OpenRTB with one bid for its impression "1".
func startBidders(spec *BuyersSpec) (at Addresses, stop func() error, err error) {
	server := &fasthttp.Server{Handler: answerBidRequest}
	ended := make(chan error, spec.Buyers)
	for range spec.Buyers {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return at, nil, err
		}
		at.Buyers = append(at.Buyers, listener.Addr().String())
		go func() { ended <- server.Serve(listener) }()
	}
	at.Listen = at.Buyers[0]
	return at, func() error {
		err := server.Shutdown()
		for range spec.Buyers {
			err = errors.Join(err, <-ended)
		}
		return err
	}, nil
}

func answerBidRequest(ctx *fasthttp.RequestCtx) {
	var request struct{ ID string }
	if err := json.Unmarshal(ctx.Request.Body(), &request); err != nil || request.ID == "" {
		ctx.Error("not a bid request", fasthttp.StatusBadRequest)
		return
	}
	ctx.SetContentType("application/json")
	ctx.SetBodyString(`{"id":"` + request.ID + `","cur":"USD","seatbid":[{"bid":[{"id":"bid-1","impid":"1","price":12.5,"crid":"creative-1","adm":"<a></a>","w":300,"h":250}]}]}`)
}
