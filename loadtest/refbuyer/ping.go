package refbuyer

import (
	"bytes"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/internal/strictjson"
)

// scratch is the workspace of one ping. The buyer's pool owns it; answers are copied from
// it.
type scratch struct {
	object  strictjson.Object
	request request
	wrong   []fieldError
	answer  []byte
}

// handlePing answers with a bid, or with the reason for no bid.
func (b *Buyer) handlePing(r *fasthttp.RequestCtx) {
	now := b.now()
	b.book.countArrival(now)
	if !b.allowed(r, now) {
		return
	}
	key, ok := b.idempotencyKey(r)
	if !ok {
		return
	}
	work := b.scratchPool.Get().(*scratch)
	damage := b.composeAnswer(r, work, key, now)
	work.object.ClearForReuse()
	work.wrong, work.request = work.wrong[:0], request{}
	b.scratchPool.Put(work)
	b.delayAnswer(b.options.Latency, key, 1)
	if damage == sound {
		b.maybeAnswerTwice(r, key, 1)
	}
	damage.apply(b, r)
}

// composeAnswer writes the answer, and returns the malformation to apply to it.
func (b *Buyer) composeAnswer(r *fasthttp.RequestCtx, work *scratch, key []byte, now time.Time) malformation {
	body := r.PostBody()
	if err := work.object.Parse(body); err != nil {
		b.refuse(r, fasthttp.StatusBadRequest, "malformed_json", err.Error())
		return sound
	}
	work.wrong = work.request.read(work.object.Members(), now, work.wrong)
	if len(work.wrong) > 0 {
		b.refusePing(r, work.wrong)
		return sound
	}
	o := b.makeOffer(&work.request, key)
	damage := b.chance.drawMalformation(b.options.MalformedRate, key, 0, len(malformations))
	as := toBid
	switch {
	case damage != sound:
		as = toDamage
	case o.noBid != "":
		as = toPass
	}
	until, use := b.book.recordPing(key, body, now.Add(b.options.Valid).UnixMilli(), as)
	switch use {
	case reusedKey:
		b.refuseReusedKey(r)
		return sound
	case repeatedKey:
		r.Response.Header.Set("Idempotent-Replayed", "true")
	}
	o.until = until
	work.answer = b.compose(work.answer[:0], &o, damage)
	r.SetContentType("application/json")
	r.SetBody(work.answer)
	return damage
}

// refusePing reports the errors of a ping. A ping that is only too late does not count as
// invalid, because the network or this buyer may have delayed it.
func (b *Buyer) refusePing(r *fasthttp.RequestCtx, wrong []fieldError) {
	for i := range wrong {
		if wrong[i].Code == codeContact {
			b.ledger.count(func(s *Stats) *int64 { return &s.ContactSeen })
			break
		}
	}
	if len(wrong) == 1 && wrong[0].Code == codeExpired {
		b.ledger.count(func(s *Stats) *int64 { return &s.Late })
		answerError(r, fasthttp.StatusUnprocessableEntity, "invalid_payload", "expires_at has passed", wrong...)
		return
	}
	b.refuse(r, fasthttp.StatusUnprocessableEntity, "invalid_payload", "the ping has invalid fields", wrong...)
}

// allowed checks the rate limit and sets the rate limit headers. The bucket holds the
// pings of one second.
func (b *Buyer) allowed(r *fasthttp.RequestCtx, now time.Time) bool {
	limit := b.options.PingsASecond
	if limit == 0 {
		return true
	}
	allowed := b.limiter.AllowN(now, 1)
	tokens := b.limiter.TokensAt(now)
	secondsUntil := func(wanted float64) time.Duration {
		return time.Duration((wanted - tokens) / float64(limit) * float64(time.Second))
	}
	h := &r.Response.Header
	var digits [20]byte
	setNumber := func(name string, n int64) { h.SetBytesV(name, strconv.AppendInt(digits[:0], n, 10)) }
	setNumber("X-RateLimit-Limit", int64(limit))
	setNumber("X-RateLimit-Remaining", int64(max(0, tokens)))
	setNumber("X-RateLimit-Reset", roundUp(now.Add(secondsUntil(float64(limit))).UnixNano()))
	if !allowed {
		b.ledger.count(func(s *Stats) *int64 { return &s.Limited })
		setNumber("Retry-After", roundUp(int64(secondsUntil(1))))
		answerError(r, fasthttp.StatusTooManyRequests, "rate_limited", "the limit is "+strconv.Itoa(limit)+" pings a second")
	}
	return allowed
}

// roundUp returns nanoseconds as whole seconds.
func roundUp(nanoseconds int64) (seconds int64) {
	return (nanoseconds + int64(time.Second) - 1) / int64(time.Second)
}

// idempotencyKey returns the required idempotency key and checks the content type. The key aliases
// the request.
func (b *Buyer) idempotencyKey(r *fasthttp.RequestCtx) (key []byte, ok bool) {
	kind, _, _ := bytes.Cut(r.Request.Header.ContentType(), []byte(";"))
	if !bytes.EqualFold(bytes.TrimSpace(kind), []byte("application/json")) {
		b.refuse(r, fasthttp.StatusUnsupportedMediaType, "unsupported_media_type", "send application/json")
		return nil, false
	}
	key = bytes.Trim(r.Request.Header.Peek("Idempotency-Key"), `"`)
	if len(key) == 0 || len(key) > maxKey || !isVisibleASCII(key) {
		b.refuse(r, fasthttp.StatusUnprocessableEntity, "invalid_payload", "the Idempotency-Key header is missing or malformed",
			fieldError{"Idempotency-Key", "missing_required", "1 to 255 visible ASCII characters"})
		return nil, false
	}
	return key, true
}

func (b *Buyer) refuseReusedKey(r *fasthttp.RequestCtx) {
	answerError(r, fasthttp.StatusUnprocessableEntity, "idempotency_key_reused", "this Idempotency-Key was used with another body")
}
