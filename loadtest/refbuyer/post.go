package refbuyer

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"net"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/internal/strictjson"
)

// receipt acknowledges a lead.
type receipt struct {
	LeadID string `json:"lead_id"`
	Status string `json:"status"`
}

// handlePost decides on a lead. The ledger decides before the delay: a caller that stops
// waiting has sold the lead nevertheless.
func (b *Buyer) handlePost(r *fasthttp.RequestCtx) {
	key, ok := b.idempotencyKey(r)
	if !ok {
		return
	}
	var body postBody
	if err := strictjson.UnmarshalUnambiguous(r.PostBody(), &body); err != nil {
		b.refuse(r, fasthttp.StatusBadRequest, "malformed_json", "the body is not a JSON object of the expected types")
		return
	}
	if wrong := body.check(); wrong != nil {
		b.refuse(r, fasthttp.StatusUnprocessableEntity, "invalid_payload", "the post has missing or invalid fields", wrong...)
		return
	}
	a, ok := b.attemptOf(r, key, &body)
	if !ok {
		b.refuse(r, fasthttp.StatusUnprocessableEntity, "invalid_bid_token", "the buyer issued no such token for this auction")
		return
	}
	result := b.ledger.decidePost(a)
	b.delayAnswer(b.options.PostLatency, key, result.number)
	if b.forgetsLead(r, key, result) {
		return
	}
	b.answerPost(r, result)
	if result.fate == fateAccepted && !result.failed && !b.damageReceipt(r, key, result.number) {
		b.maybeAnswerTwice(r, key, result.number)
		b.ledger.recordAnswer(a.key, b.now())
	}
}

// forgetsLead reports whether the buyer accepts this lead without an answer, like a buyer
// that loses its connection and then its data. It closes the connection after the first
// attempt and rejects each retry. The lead stays in the ledger.
func (b *Buyer) forgetsLead(r *fasthttp.RequestCtx, key []byte, result outcome) bool {
	if result.fate != fateAccepted || result.failed || !b.chance.happens(b.options.ForgetRate, drawForget, key, 0) {
		return false
	}
	if result.replayed {
		answerError(r, fasthttp.StatusUnprocessableEntity, "post_rejected", "simulated loss of the lead by the configured forget rate")
		return true
	}
	b.ledger.count(func(s *Stats) *int64 { return &s.Malformed })
	b.WriteRaw(r, func(net.Conn) {}) // the server closes the connection without an answer
	return true
}

// attemptOf returns the ledger's view of a post. ok is false if the bid token is unknown.
func (b *Buyer) attemptOf(r *fasthttp.RequestCtx, key []byte, body *postBody) (a attempt, ok bool) {
	a = attempt{
		key:    string(key),
		lead:   *body.Lead.LeadUUID,
		id:     b.chance.name("ref_", string(key)),
		body:   sha256.Sum256(r.PostBody()),
		bid:    body.BidToken != nil,
		reject: b.chance.happens(b.options.RejectRate, drawReject, key, 0),
	}
	a.fail = func(n int) (fails, taken bool) {
		fails = b.chance.happens(b.options.FailRate, drawFail, []byte(a.key), n)
		return fails, fails && b.chance.draw(drawTaken, []byte(a.key), n) < 0.5
	}
	if !a.bid {
		a.price = b.priceOf(body.state(), key)
		return a, true
	}
	promised, known := b.chance.readToken(*body.BidToken, *body.AuctionID)
	a.price, a.expired = promised.amount, promised.expired(b.now())
	return a, known
}

// damageReceipt may replace a receipt by a malformed answer, and reports whether it did.
// The next attempt draws again.
func (b *Buyer) damageReceipt(r *fasthttp.RequestCtx, key []byte, attempt int) bool {
	damage := b.chance.drawMalformation(b.options.MalformedPostRate, key, attempt, len(malformations)-int(notJSON))
	if damage != sound {
		b.ledger.count(func(s *Stats) *int64 { return &s.Malformed })
		damage.apply(b, r)
	}
	return damage != sound
}

func (b *Buyer) answerPost(r *fasthttp.RequestCtx, result outcome) {
	if result.replayed {
		r.Response.Header.Set("Idempotent-Replayed", "true")
	}
	switch {
	case result.fate == fateReused:
		b.refuseReusedKey(r)
	case result.fate == fateExpired:
		answerError(r, fasthttp.StatusGone, "bid_expired", "the bid of this token has expired")
	case result.failed || result.fate == fateOpen:
		answerError(r, fasthttp.StatusInternalServerError, "internal", "random failure by the configured fail rate")
	case result.fate == fateAccepted:
		answerJSON(r, fasthttp.StatusCreated, receipt{result.id, "accepted"})
	default:
		answerError(r, fasthttp.StatusUnprocessableEntity, "post_rejected", "random rejection by the configured reject rate")
	}
}

// listLeads answers with one JSON object in each line.
func (b *Buyer) listLeads(r *fasthttp.RequestCtx) {
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	for _, lead := range b.Leads() {
		if err := encoder.Encode(lead); err != nil {
			panic("BUG: a lead that is no JSON: " + err.Error())
		}
	}
	r.SetContentType("application/x-ndjson")
	r.Response.SetBodyRaw(lines.Bytes())
}

// state returns the state of the lead, if known.
func (p *postBody) state() market.USState {
	if p.Lead.Address == nil || p.Lead.Address.State == nil {
		return market.NoState
	}
	return market.ParseUSStateCode([]byte(*p.Lead.Address.State))
}
