package ceiling

import (
	"crypto/sha256"
	"strings"
	"sync"

	"github.com/goccy/go-json"
	"github.com/valyala/fasthttp"

	"pingpost/engine/market/fingerprint"
	"pingpost/keys/leadkeys"
	"pingpost/wal"
)

// ingestCeiling is the ceiling of ingest.
type ingestCeiling struct {
	log         *wal.Log
	answer      []byte
	secret      []byte    // nil: hash and encrypt no data
	poster      *poster   // nil: no post
	scratchPool sync.Pool // *scratch
}

// scratch is the workspace of one lead until it is committed.
type scratch struct {
	lead    Lead
	intent  record
	outcome record
	post    postScratch
	hashed  []byte // the secret, then the bytes to hash
}

// NewIngest returns the ceiling of ingest. It posts each lead to the first buyer, if there is one.
func NewIngest(log *wal.Log, opt *Options) *Server {
	i := &ingestCeiling{log: log, answer: answerOf(opt.Answer)}
	if opt.HashAndEncrypt {
		i.secret = make([]byte, 32)
	}
	i.scratchPool.New = func() any {
		return &scratch{intent: newRecord(opt.Entry), outcome: newRecord(opt.Outcome)}
	}
	s := newServer(i.handle, opt.Buyers)
	if len(s.buyers) > 0 {
		i.poster = &poster{url: "http://" + opt.Buyers[0] + "/v1/post", client: s.buyers[0]}
	}
	return s
}

// answerOf returns an answer to a lead, padded with spaces to a size.
func answerOf(size int) []byte {
	const begin, end = `{"data":{"status":"ACCEPTED"`, `}}`
	return []byte(begin + strings.Repeat(" ", max(0, size-len(begin)-len(end))) + end)
}

func (s *ingestCeiling) handle(ctx *fasthttp.RequestCtx) {
	r := s.scratchPool.Get().(*scratch)
	defer s.scratchPool.Put(r)
	r.lead = Lead{}
	body := ctx.Request.Body()
	if err := json.Unmarshal(body, &r.lead); err != nil || !r.lead.complete() {
		ctx.Error("not a lead", fasthttp.StatusBadRequest)
		return
	}
	copy(r.intent.entry, body)
	if s.secret != nil {
		r.hashAndEncrypt(s.secret, ctx.Request.Header.Peek("Idempotency-Key"), body)
	}
	err := r.intent.commit(s.log)
	if err == nil && s.poster != nil {
		if err = s.poster.post(r, ctx.Request.Header.Peek("Idempotency-Key")); err == nil {
			err = r.outcome.commit(s.log)
		}
	}
	if err != nil {
		ctx.Error(err.Error(), fasthttp.StatusServiceUnavailable)
		return
	}
	ctx.SetStatusCode(fasthttp.StatusCreated)
	ctx.SetContentType("application/json")
	ctx.SetBody(s.answer)
}

// hashAndEncrypt hashes and encrypts as much of a lead as the exchange does: its idempotency key and body,
// the phone number and the email address for the duplicate check, and half of the body as contact data.
func (r *scratch) hashAndEncrypt(secret, key, body []byte) {
	leadKey := leadkeys.Key(secret)
	for _, text := range [][]byte{key, body} {
		r.hashed = append(append(r.hashed[:0], secret...), text...)
		sum := sha256.Sum256(r.hashed)
		copy(r.intent.entry, sum[:])
	}
	for _, text := range []string{r.lead.Phone, r.lead.Email} {
		r.hashed = append(r.hashed[:0], text...)
		sum := fingerprint.HMAC((*[32]byte)(&leadKey), r.hashed)
		copy(r.intent.entry[len(sum):], sum[:])
	}
	const begin = 2 * sha256.Size
	size := min(len(body)/2, max(0, len(r.intent.entry)-begin-leadkeys.Overhead))
	leadkeys.Seal(r.intent.entry[begin:begin], 1, &leadKey, [16]byte{}, body[:size])
}
