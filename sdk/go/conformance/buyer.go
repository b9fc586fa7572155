package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	pingpost "pingpost/sdk/go"
	"pingpost/sdk/go/buyer"
	"pingpost/sdk/go/fastbuyer"
	"pingpost/sdk/go/model"
)

// buyerScript describes the results of a buyer's two functions.
type buyerScript struct {
	Bid *struct {
		Amount     float64   `json:"amount"`
		Currency   string    `json:"currency"`
		Token      string    `json:"token"`
		ValidUntil time.Time `json:"valid_until"`
	} `json:"bid"`
	NoBid     *buyer.NoBid   `json:"no_bid"`
	Refuse    *buyer.Refusal `json:"refuse"`
	Raise     bool           `json:"raise"`
	BidRaise  bool           `json:"bid_raise"`
	PostRaise bool           `json:"post_raise"`
	Sleep     float64        `json:"sleep_seconds"`
	BidSleep  float64        `json:"bid_sleep_seconds"`
	PostSleep float64        `json:"post_sleep_seconds"`
	Post      struct {
		Lead string `json:"lead_id"`
	} `json:"post"`
}

// runningBuyer is a listening buyer.
type runningBuyer struct {
	stop func()

	mu     sync.Mutex
	script buyerScript
	pings  []*model.PingRequest
	posts  []*model.LeadDelivery
}

func (s *runningBuyer) bid(_ context.Context, ping *model.PingRequest) (buyer.Bid, error) {
	s.mu.Lock()
	s.pings = append(s.pings, ping)
	now := s.script
	s.mu.Unlock()
	time.Sleep(seconds(now.Sleep + now.BidSleep))
	switch {
	case now.Raise:
		panic("as the script says")
	case now.BidRaise:
		return buyer.Bid{}, errors.New("as the script says")
	case now.NoBid != nil:
		return buyer.Bid{}, *now.NoBid
	case now.Bid == nil:
		return buyer.Bid{}, errors.New("the script says nothing of a bid")
	}
	return buyer.Bid{Amount: now.Bid.Amount, Currency: now.Bid.Currency, Token: now.Bid.Token, ValidUntil: now.Bid.ValidUntil}, nil
}

func (s *runningBuyer) post(_ context.Context, post *model.LeadDelivery) (string, error) {
	s.mu.Lock()
	s.posts = append(s.posts, post)
	now := s.script
	s.mu.Unlock()
	time.Sleep(seconds(now.Sleep + now.PostSleep))
	switch {
	case now.Raise:
		panic("as the script says, about " + post.Lead.Email)
	case now.PostRaise:
		return "", errors.New("as the script says, about " + post.Lead.Email)
	case now.Refuse != nil:
		return "", *now.Refuse
	}
	return now.Post.Lead, nil
}

func (d *driver) serveBuyer(r *request) (any, error) {
	s := &runningBuyer{script: *r.Script}
	b, err := buyer.New(buyer.Options{Bid: s.bid, Post: s.post, Bearer: r.Credential.Bearer, APIKey: r.Credential.APIKey})
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	switch r.Flavor {
	case "net/http":
		server := &http.Server{Handler: http.StripPrefix(r.Prefix, b)}
		go func() { _ = server.Serve(listener) }()
		s.stop = func() { _ = server.Close() }
	case "fasthttp":
		server := &fasthttp.Server{Handler: fastbuyer.Handler(b, r.Prefix), CloseOnShutdown: true}
		go func() { _ = server.Serve(listener) }()
		s.stop = func() {
			within, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			_ = server.ShutdownWithContext(within)
		}
	default:
		return nil, &pingpost.UsageError{Message: "no such flavor"}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.buyers[r.Buyer] = s
	return map[string]any{"url": "http://" + listener.Addr().String() + r.Prefix}, nil
}

func (d *driver) atBuyer(r *request) (any, error) {
	d.mu.Lock()
	s := d.buyers[r.Buyer]
	d.mu.Unlock()
	if s == nil {
		return nil, &pingpost.UsageError{Message: "no such buyer"}
	}
	switch r.Op {
	case "buyer.script":
		s.mu.Lock()
		defer s.mu.Unlock()
		s.script = *r.Script
	case "buyer.stop":
		s.stop()
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.buyers, r.Buyer)
	case "buyer.received":
		s.mu.Lock()
		defer s.mu.Unlock()
		return map[string]any{
			"pings": append([]*model.PingRequest{}, s.pings...), "posts": append([]*model.LeadDelivery{}, s.posts...),
			"bid_calls": len(s.pings), "post_calls": len(s.posts),
		}, nil
	}
	return struct{}{}, nil
}
