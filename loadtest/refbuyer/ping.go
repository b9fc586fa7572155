package refbuyer

import (
	"bytes"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/internal/strictjson"
)

// room is what one ping needs while it is read. The buyer's pool owns it; what
// the answer takes from it is copied.
type room struct {
	object  strictjson.Object
	request request
	wrong   []fieldError
	answer  []byte
}

// ping answers what a lead is worth, or why nothing.
func (b *Buyer) ping(r *fasthttp.RequestCtx) {
	now := b.now()
	b.book.arrive(now)
	if !b.allowed(r, now) {
		return
	}
	key, ok := b.key(r)
	if !ok {
		return
	}
	space := b.rooms.Get().(*room)
	nonsense := b.bid(r, space, key, now)
	space.object.Release()
	space.wrong, space.request = space.wrong[:0], request{}
	b.rooms.Put(space)
	b.dawdle(b.options.Latency, key, 1)
	if nonsense == sound {
		b.repeats(r, key, 1)
	}
	nonsense.ruin(b, r)
}

// bid writes the answer, and gives the nonsense that is to become of it.
func (b *Buyer) bid(r *fasthttp.RequestCtx, space *room, key []byte, now time.Time) malformation {
	body := r.PostBody()
	if err := space.object.Parse(body); err != nil {
		b.refuse(r, fasthttp.StatusBadRequest, "malformed_json", err.Error())
		return sound
	}
	space.wrong = space.request.read(space.object.Members(), now, space.wrong)
	if len(space.wrong) > 0 {
		b.refusePing(r, space.wrong)
		return sound
	}
	o := b.weigh(&space.request, key)
	nonsense := b.chance.nonsense(b.options.MalformedRate, key, 0, len(malformations))
	as := toBid
	switch {
	case nonsense != sound:
		as = toBabble
	case o.noBid != "":
		as = toPass
	}
	until, stands := b.book.note(key, body, now.Add(b.options.Valid).UnixMilli(), as)
	switch stands {
	case standsReused:
		b.refuseReused(r)
		return sound
	case standsRepeated:
		r.Response.Header.Set("Idempotent-Replayed", "true")
	}
	o.until = until
	space.answer = b.compose(space.answer[:0], &o, nonsense)
	r.SetContentType("application/json")
	r.SetBody(space.answer)
	return nonsense
}

// refusePing tells what is wrong with a ping. That it came too late, and nothing else,
// is nobody's fault but the way's, or ours.
func (b *Buyer) refusePing(r *fasthttp.RequestCtx, wrong []fieldError) {
	for i := range wrong {
		if wrong[i].Code == codeContact {
			b.book.contact()
			break
		}
	}
	if len(wrong) == 1 && wrong[0].Code == codeExpired {
		b.book.late()
		fail(r, fasthttp.StatusUnprocessableEntity, "invalid_payload", "nobody waits for this bid any more", wrong...)
		return
	}
	b.refuse(r, fasthttp.StatusUnprocessableEntity, "invalid_payload", "the ping is not as it should be", wrong...)
}

// allowed asks the limiter, where there is one, and tells the caller of it.
func (b *Buyer) allowed(r *fasthttp.RequestCtx, now time.Time) bool {
	if b.limiter.rate == 0 {
		return true
	}
	a := b.limiter.take(now)
	h := &r.Response.Header
	var digits [20]byte
	h.SetBytesV("X-RateLimit-Limit", strconv.AppendInt(digits[:0], int64(b.limiter.rate), 10))
	h.SetBytesV("X-RateLimit-Remaining", strconv.AppendInt(digits[:0], int64(a.remaining), 10))
	h.SetBytesV("X-RateLimit-Reset", strconv.AppendInt(digits[:0], a.reset, 10))
	if !a.granted {
		h.SetBytesV("Retry-After", strconv.AppendInt(digits[:0], int64(a.retryAfter), 10))
		fail(r, fasthttp.StatusTooManyRequests, "rate_limited", "this buyer takes "+strconv.Itoa(b.limiter.rate)+" pings a second")
	}
	return a.granted
}

// key is the request's idempotency key, which must be there, as must the type
// of its body. The key aliases the request.
func (b *Buyer) key(r *fasthttp.RequestCtx) (key []byte, ok bool) {
	kind, _, _ := bytes.Cut(r.Request.Header.ContentType(), []byte(";"))
	if !bytes.EqualFold(bytes.TrimSpace(kind), []byte("application/json")) {
		b.refuse(r, fasthttp.StatusUnsupportedMediaType, "unsupported_media_type", "send application/json")
		return nil, false
	}
	key = bytes.Trim(r.Request.Header.Peek("Idempotency-Key"), `"`)
	if len(key) == 0 || len(key) > maxKey || !visible(key) {
		b.refuse(r, fasthttp.StatusUnprocessableEntity, "invalid_payload", "there is no proper idempotency key",
			fieldError{"Idempotency-Key", "missing_required", "1 to 255 visible ASCII characters"})
		return nil, false
	}
	return key, true
}

func (b *Buyer) refuseReused(r *fasthttp.RequestCtx) {
	fail(r, fasthttp.StatusUnprocessableEntity, "idempotency_key_reused", "this key came with another body before")
}
