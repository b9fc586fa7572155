package buyer

import (
	"context"
	"errors"
	"math"
	"net/http"
	"time"

	"pingpost/sdk/go/model"
)

// ping answers a ping with a bid or with none.
func (b *Buyer) ping(ctx context.Context, r *Request, members map[string]any) Response {
	if wrong := check(members, pingRules); wrong != nil {
		return invalid(r, wrong)
	}
	var ping model.PingRequest
	read(members, pingRules, &ping)
	now := b.options.Now()
	wait := window
	if ping.ExpiresAt != nil {
		wait = min(wait, ping.ExpiresAt.Sub(now))
	}
	if wait <= 0 {
		return noBid(r, ping.AuctionID, late)
	}
	bid, err := b.ask(ctx, wait, &ping)
	var none NoBid
	switch {
	case errors.As(err, &none):
		return noBid(r, ping.AuctionID, none)
	case err != nil || !sound(bid.Amount):
		return fault(r)
	}
	return respond(r, http.StatusOK, offer(ping.AuctionID, bid, b.options.Now()))
}

var late = NoBid{Reason: "timeout", Detail: "The bid was not ready in time."}

// ask calls the function and waits for it as long as anybody waits for the bid. One that
// goes on after that is heard by nobody.
func (b *Buyer) ask(ctx context.Context, wait time.Duration, ping *model.PingRequest) (Bid, error) {
	type answer struct {
		bid Bid
		err error
	}
	within, cancel := context.WithTimeout(ctx, wait)
	answers := make(chan answer, 1)
	go func() {
		defer cancel()
		var a answer
		defer func() {
			if recover() != nil {
				a.err = errPanicked
			}
			answers <- a
		}()
		a.bid, a.err = b.options.Bid(within, ping)
	}()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case a := <-answers:
		if a.err != nil && errors.Is(within.Err(), context.DeadlineExceeded) {
			return Bid{}, late // it has given up since nobody waits any more, which is no fault
		}
		return a.bid, a.err
	case <-timer.C:
		return Bid{}, late
	}
}

var errPanicked = errors.New("the function panicked")

// sound holds for an amount that may be bid: a millionth at least.
func sound(amount float64) bool { return amount >= 1e-6 && amount <= 1e6 && !math.IsNaN(amount) }

func offer(auction string, bid Bid, now time.Time) model.BuyerBidResponse {
	if bid.Currency == "" {
		bid.Currency = "USD"
	}
	if bid.Token == "" {
		bid.Token = random("bid_")
	}
	if bid.ValidUntil.IsZero() {
		bid.ValidUntil = now.Add(window)
	}
	until := bid.ValidUntil.UTC()
	return model.BuyerBidResponse{AuctionID: &auction, BuyerFiltersPassed: bid.FiltersPassed, Bid: &model.BuyerBid{
		Amount: bid.Amount, Currency: &bid.Currency, BidToken: bid.Token, ValidUntil: &until,
	}}
}

func noBid(r *Request, auction string, why NoBid) Response {
	if why.Reason == "" {
		why.Reason = "no_bid"
	}
	answer := model.BuyerBidResponse{AuctionID: &auction, RejectReason: &why.Reason}
	if why.Detail != "" {
		answer.RejectDetail = &why.Detail
	}
	return respond(r, http.StatusOK, answer)
}

// fault is all that anybody is told of a function that failed.
func fault(r *Request) Response {
	return refuse(r, http.StatusInternalServerError, model.ErrorCodeInternal, "The buyer's own function failed.")
}
