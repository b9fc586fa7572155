package refbuyer

import (
	"crypto/sha256"
	"encoding/json"
	"strings"

	"github.com/valyala/fasthttp"
)

const (
	maxKey   = 255
	maxID    = 64  // characters of an identifier
	maxField = 512 // characters of any other text
)

// postBody is what is looked at in a post.
type postBody struct {
	AuctionID *string `json:"auction_id"`
	BidToken  *string `json:"bid_token"` // absent where there was no auction
	Lead      *struct {
		LeadUUID  *string `json:"lead_uuid"`
		FirstName *string `json:"first_name"`
		LastName  *string `json:"last_name"`
		Email     *string `json:"email"`
		Phone     *string `json:"phone"`
	} `json:"lead"`
}

// receipt acknowledges a lead.
type receipt struct {
	LeadID string `json:"lead_id"`
	Status string `json:"status"`
}

// post takes a lead, or does not. The ledger decides before the answer is held
// back: a caller that gives up waiting has sold it nevertheless.
func (b *Buyer) post(r *fasthttp.RequestCtx) {
	key := strings.Trim(string(r.Request.Header.Peek("Idempotency-Key")), `"`)
	if key == "" || len(key) > maxKey || !visible(key) {
		b.refuse(r, fasthttp.StatusUnprocessableEntity, "invalid_payload", "the post has no proper idempotency key",
			fieldError{"Idempotency-Key", "missing_required", "1 to 255 visible ASCII characters"})
		return
	}
	var body postBody
	if err := json.Unmarshal(r.PostBody(), &body); err != nil {
		b.refuse(r, fasthttp.StatusBadRequest, "malformed_json", "the body is no JSON object of the expected types")
		return
	}
	if wrong := body.check(); wrong != nil {
		b.refuse(r, fasthttp.StatusUnprocessableEntity, "invalid_payload", "the post is incomplete", wrong...)
		return
	}
	if body.BidToken != nil && *body.BidToken != b.token(*body.AuctionID) {
		b.refuse(r, fasthttp.StatusUnprocessableEntity, "invalid_bid_token", "this buyer gave no such token in this auction")
		return
	}
	result := b.ledger.post(attempt{
		key:    key,
		lead:   *body.Lead.LeadUUID,
		id:     b.chance.name("ref_", key),
		body:   sha256.Sum256(r.PostBody()),
		reject: b.chance.draw(drawReject, key, 0) < b.options.RejectRate,
		fail: func(n int) (fails, taken bool) {
			return b.chance.draw(drawFail, key, n) < b.options.FailRate, b.chance.draw(drawTaken, key, n) < 0.5
		},
	})
	b.dawdle(key, result.number)
	b.acknowledge(r, result)
}

func (b *Buyer) acknowledge(r *fasthttp.RequestCtx, result outcome) {
	if result.replayed {
		r.Response.Header.Set("Idempotent-Replayed", "true")
	}
	switch {
	case result.failed || result.fate == fateOpen:
		fail(r, fasthttp.StatusInternalServerError, "internal", "this buyer was told to fail at times")
	case result.fate == fateAccepted:
		answer(r, fasthttp.StatusCreated, receipt{result.id, "accepted"})
	case result.fate == fateReused:
		fail(r, fasthttp.StatusUnprocessableEntity, "idempotency_key_reused", "this key came with another body before")
	default:
		fail(r, fasthttp.StatusUnprocessableEntity, "post_rejected", "this buyer was told to reject at times")
	}
}

// check names every field that is missing or wrong.
func (p *postBody) check() []fieldError {
	wrong := checkText(nil, "auction_id", p.AuctionID, maxID)
	if p.Lead == nil {
		return append(wrong, fieldError{"lead", "missing_required", "an object"})
	}
	wrong = checkText(wrong, "lead.lead_uuid", p.Lead.LeadUUID, maxID)
	wrong = checkText(wrong, "lead.first_name", p.Lead.FirstName, maxField)
	wrong = checkText(wrong, "lead.last_name", p.Lead.LastName, maxField)
	wrong = checkText(wrong, "lead.email", p.Lead.Email, maxField)
	if p.Lead.Email != nil && *p.Lead.Email != "" && !strings.Contains(*p.Lead.Email, "@") {
		wrong = append(wrong, fieldError{"lead.email", "invalid_format", "an e-mail address"})
	}
	wrong = checkText(wrong, "lead.phone", p.Lead.Phone, maxField)
	if p.Lead.Phone != nil && *p.Lead.Phone != "" && !isE164(*p.Lead.Phone) {
		wrong = append(wrong, fieldError{"lead.phone", "invalid_format", "a number as E.164: + and 7 to 15 digits"})
	}
	return wrong
}

func checkText(wrong []fieldError, field string, text *string, limit int) []fieldError {
	switch {
	case text == nil || strings.TrimSpace(*text) == "":
		return append(wrong, fieldError{field, "missing_required", "a text"})
	case len(*text) > limit:
		return append(wrong, fieldError{field, "too_long", "a shorter text"})
	}
	return wrong
}

func isE164(s string) bool {
	digits, plus := strings.CutPrefix(s, "+")
	if !plus || len(digits) < 7 || len(digits) > 15 || digits[0] == '0' {
		return false
	}
	return strings.Trim(digits, "0123456789") == ""
}
