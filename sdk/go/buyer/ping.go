package buyer

import (
	"context"
	"errors"
	"math"
	"net/http"
	"time"

	"pingpost/sdk/go/model"
)

// answerPing answers a ping with a bid or no bid.
func (b *Buyer) answerPing(ctx context.Context, r *Request, members map[string]any) Response {
	if wrong := checkMembers(members, pingRules); wrong != nil {
		return invalid(r, wrong)
	}
	var ping model.PingRequest
	decodeMembers(members, pingRules, &ping)
	now := b.options.Now()
	wait := bidWindow
	if ping.ExpiresAt != nil {
		wait = min(wait, ping.ExpiresAt.Sub(now))
	}
	if wait <= 0 {
		return noBid(r, ping.AuctionID, late)
	}
	bid, err := b.callBid(ctx, wait, &ping)
	var none NoBid
	switch {
	case errors.As(err, &none):
		return noBid(r, ping.AuctionID, none)
	case err != nil || !isValidAmount(bid.Amount):
		return functionFailed(r)
	}
	return respond(r, http.StatusOK, offer(ping.AuctionID, bid, b.options.Now()))
}

var late = NoBid{Reason: "timeout", Detail: "The bid was not ready in time."}

// callBid calls the function and waits at most as long as the exchange does. It ignores a later
// result.
func (b *Buyer) callBid(ctx context.Context, wait time.Duration, ping *model.PingRequest) (Bid, error) {
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
			return Bid{}, late // the function stopped because its context ended, which is no failure
		}
		return a.bid, a.err
	case <-timer.C:
		return Bid{}, late
	}
}

var errPanicked = errors.New("the function panicked")

// isValidAmount reports whether the amount may be bid: at least one millionth.
func isValidAmount(amount float64) bool {
	return amount >= 1e-6 && amount <= 1e6 && !math.IsNaN(amount)
}

func offer(auction string, bid Bid, now time.Time) model.BuyerBidResponse {
	if bid.Currency == "" {
		bid.Currency = "USD"
	}
	if bid.Token == "" {
		bid.Token = randomToken("bid_")
	}
	if bid.ValidUntil.IsZero() {
		bid.ValidUntil = now.Add(bidWindow)
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

// functionFailed is the answer to a failed function. It contains no details.
func functionFailed(r *Request) Response {
	return refuse(r, http.StatusInternalServerError, model.ErrorCodeInternal, "The buyer's own function failed.")
}
