package ceiling

import (
	"net"
	"strings"
	"sync"

	"github.com/goccy/go-json"
	"github.com/valyala/fasthttp"

	"pingpost/wal"
)

// Options are the options of a Server. Sizes and limits are those of the exchange.
type Options struct {
	Log    *wal.Log
	Entry  int // bytes committed for a lead
	Answer int // bytes of an answer's body

	Buyer   string // each lead is posted to this address; empty: none
	Outcome int    // bytes committed for the outcome of a post
}

// Server is the ceiling of ingest.
type Server struct {
	log         *wal.Log
	answer      []byte
	poster      *poster // nil: no post
	http        *fasthttp.Server
	scratchPool sync.Pool // *scratch
}

// scratch is the workspace of one lead until it is committed.
type scratch struct {
	lead    Lead
	intent  record
	outcome record
	post    postScratch
}

// New returns a server for Serve.
func New(opt Options) *Server {
	s := &Server{log: opt.Log, answer: answerOf(opt.Answer)}
	s.scratchPool.New = func() any {
		return &scratch{intent: newRecord(opt.Entry), outcome: newRecord(opt.Outcome)}
	}
	if opt.Buyer != "" {
		s.poster = newPoster(opt.Buyer)
	}
	s.http = newHTTPServer(s.handle)
	return s
}

// answerOf returns an answer to a lead, padded with spaces to a size.
func answerOf(size int) []byte {
	const begin, end = `{"data":{"status":"ACCEPTED"`, `}}`
	return []byte(begin + strings.Repeat(" ", max(0, size-len(begin)-len(end))) + end)
}

// Serve answers on the listener until Shutdown.
func (s *Server) Serve(listener net.Listener) error { return s.http.Serve(listener) }

// Shutdown waits for open requests and closes the connections to the buyer.
func (s *Server) Shutdown() error {
	err := s.http.Shutdown()
	if s.poster != nil {
		s.poster.client.CloseIdleConnections()
	}
	return err
}

func (s *Server) handle(ctx *fasthttp.RequestCtx) {
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
