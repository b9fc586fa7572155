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

	Body, Header                           int // bytes
	Connections                            int
	ReadTimeout, WriteTimeout, IdleTimeout time.Duration
}

// Server is the bare server.
type Server struct {
	log    *wal.Log
	answer []byte
	http   *fasthttp.Server
	rooms  sync.Pool // *room
}

// room is what one lead needs until it is committed. It is the log's waiter.
type room struct {
	lead  Lead
	entry []byte
	done  chan error
}

// Committed is the log's word that the entry is durable.
func (r *room) Committed(uint64, int64) { r.done <- nil }

// Failed is the log's word that it is not.
func (r *room) Failed(err error) { r.done <- err }

// New returns a server for Serve.
func New(opt Options) *Server {
	s := &Server{log: opt.Log, answer: answerOf(opt.Answer)}
	s.rooms.New = func() any { return &room{entry: make([]byte, opt.Entry), done: make(chan error, 1)} }
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

// Shutdown waits for what is under way.
func (s *Server) Shutdown() error { return s.http.Shutdown() }

func (s *Server) handle(ctx *fasthttp.RequestCtx) {
	r := s.rooms.Get().(*room)
	defer s.rooms.Put(r)
	r.lead = Lead{}
	body := ctx.Request.Body()
	if err := json.Unmarshal(body, &r.lead); err != nil || !r.lead.complete() {
		ctx.Error("not a lead", fasthttp.StatusBadRequest)
		return
	}
	copy(r.entry, body)
	err := s.log.Append(r.entry, r)
	if err == nil {
		err = <-r.done
	}
	if err != nil {
		ctx.Error(err.Error(), fasthttp.StatusServiceUnavailable)
		return
	}
	ctx.SetStatusCode(fasthttp.StatusCreated)
	ctx.SetContentType("application/json")
	ctx.SetBody(s.answer)
}
