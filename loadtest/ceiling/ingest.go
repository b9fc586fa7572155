package ceiling

import (
	"strings"
	"sync"

	"github.com/goccy/go-json"
	"github.com/valyala/fasthttp"

	"pingpost/wal"
)

// ingestCeiling is the ceiling of ingest.
type ingestCeiling struct {
	log         *wal.Log
	answer      []byte
	poster      *poster   // nil: no post
	scratchPool sync.Pool // *scratch
}

// scratch is the workspace of one lead until it is committed.
type scratch struct {
	lead    Lead
	intent  record
	outcome record
	post    postScratch
}

// NewIngest returns the ceiling of ingest. It posts each lead to the first buyer, if there is one.
func NewIngest(log *wal.Log, opt *Options) *Server {
	i := &ingestCeiling{log: log, answer: answerOf(opt.Answer)}
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
