package ceiling

import (
	"net"
	"strings"
	"sync"
	"time"

	"github.com/goccy/go-json"
	"github.com/valyala/fasthttp"

	"pingpost/wal"
)

// Options of a Server. Sizes and limits are the exchange's own.
type Options struct {
	Log    *wal.Log
	Entry  int // bytes committed for a lead
	Answer int // bytes of an answer's body

	Buyer   string // address that each lead is posted to; empty: none
	Outcome int    // bytes committed for what came of the post

	Body, Header                           int // bytes
	Connections                            int
	ReadTimeout, WriteTimeout, IdleTimeout time.Duration
}

// Server is the bare server.
type Server struct {
	log     *wal.Log
	answer  []byte
	courier *courier // nil: leads are recorded alone
	http    *fasthttp.Server
	rooms   sync.Pool // *room
}

// room is what one lead needs until it is committed.
type room struct {
	lead    Lead
	intent  record
	outcome record
	post    postRoom
}

// New returns a server for Serve.
func New(opt Options) *Server {
	s := &Server{log: opt.Log, answer: answerOf(opt.Answer)}
	s.rooms.New = func() any {
		return &room{intent: newRecord(opt.Entry), outcome: newRecord(opt.Outcome)}
	}
	if opt.Buyer != "" {
		s.courier = newCourier(opt.Buyer, opt.Connections, opt.Header, opt.IdleTimeout)
	}
	s.http = bareServer(s.handle, opt.Body, opt.Header, opt.Connections)
	s.http.ReadTimeout, s.http.WriteTimeout, s.http.IdleTimeout = opt.ReadTimeout, opt.WriteTimeout, opt.IdleTimeout
	return s
}

// answerOf is an answer to a lead, filled up with spaces to its size.
func answerOf(size int) []byte {
	const begin, end = `{"data":{"status":"ACCEPTED"`, `}}`
	return []byte(begin + strings.Repeat(" ", max(0, size-len(begin)-len(end))) + end)
}

// Serve answers on the listener until Shutdown.
func (s *Server) Serve(listener net.Listener) error { return s.http.Serve(listener) }

// Shutdown waits for what is under way and drops the connections to the buyer.
func (s *Server) Shutdown() error {
	err := s.http.Shutdown()
	if s.courier != nil {
		s.courier.client.CloseIdleConnections()
	}
	return err
}

func (s *Server) handle(ctx *fasthttp.RequestCtx) {
	r := s.rooms.Get().(*room)
	defer s.rooms.Put(r)
	r.lead = Lead{}
	body := ctx.Request.Body()
	if err := json.Unmarshal(body, &r.lead); err != nil || !r.lead.complete() {
		ctx.Error("not a lead", fasthttp.StatusBadRequest)
		return
	}
	copy(r.intent.entry, body)
	err := r.intent.commit(s.log)
	if err == nil && s.courier != nil {
		if err = s.courier.post(r, ctx.Request.Header.Peek("Idempotency-Key")); err == nil {
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
