package refbuyer

import (
	"encoding/json"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
)

const (
	currency  = "USD"
	bidWindow = 5 * time.Second
)

// pingBody is what is looked at in a ping.
type pingBody struct {
	AuctionID *string `json:"auction_id"`
}

type bid struct {
	Amount     market.Money `json:"amount"`
	Currency   string       `json:"currency"`
	BidToken   string       `json:"bid_token"`
	ValidUntil time.Time    `json:"valid_until"`
}

type bidResponse struct {
	AuctionID     string   `json:"auction_id"`
	Bid           *bid     `json:"bid"`
	FiltersPassed []string `json:"buyer_filters_passed"`
	RejectReason  string   `json:"reject_reason,omitempty"`
	RejectDetail  string   `json:"reject_detail,omitempty"`
}

// ping bids the one amount for everything. Nothing is remembered of it: the
// token is a hash of the auction, and known again when a post brings it.
func (b *Buyer) ping(r *fasthttp.RequestCtx) {
	var body pingBody
	if err := json.Unmarshal(r.PostBody(), &body); err != nil {
		b.refuse(r, fasthttp.StatusBadRequest, "malformed_json", "the body is no JSON object of the expected types")
		return
	}
	if wrong := checkText(nil, "auction_id", body.AuctionID, maxID); wrong != nil {
		b.refuse(r, fasthttp.StatusUnprocessableEntity, "invalid_payload", "the ping is incomplete", wrong...)
		return
	}
	auction := *body.AuctionID
	reply := bidResponse{AuctionID: auction, FiltersPassed: []string{}}
	if b.options.Bid > 0 {
		reply.Bid = &bid{b.options.Bid, currency, b.token(auction), time.Now().Add(bidWindow).UTC()}
	} else {
		reply.RejectReason, reply.RejectDetail = "no_bid", "this buyer was started without a bid"
	}
	b.ledger.ping(reply.Bid != nil)
	b.dawdle(auction, 1)
	answer(r, fasthttp.StatusOK, reply)
}

// token is the bid token of an auction.
func (b *Buyer) token(auction string) string { return b.chance.name("bid_", auction) }
