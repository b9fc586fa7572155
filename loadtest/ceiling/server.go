package ceiling

import (
	"time"

	"github.com/valyala/fasthttp"
)

// Options are the options of a ceiling. Sizes and limits are those of the exchange.
type Options struct {
	Buyers []string // addresses; every auction asks all of them
	Entry  int      // bytes committed for a lead or an auction

	Answer  int // bytes of an answer's body to a lead
	Outcome int // bytes committed for the outcome of a lead's post

	HashAndEncrypt bool // hash and encrypt as much of a lead as the exchange does

	Timeout time.Duration // for bids
}

// Server is a ceiling of either kind.
type Server struct {
	*fasthttp.Server
	buyers []*fasthttp.HostClient
}

func newServer(handle fasthttp.RequestHandler, buyers []string) *Server {
	s := &Server{Server: newHTTPServer(handle)}
	for _, addr := range buyers {
		s.buyers = append(s.buyers, newBuyerClient(addr))
	}
	return s
}

// Shutdown waits for open requests and closes the connections to the buyers.
func (s *Server) Shutdown() error {
	err := s.Server.Shutdown()
	for _, buyer := range s.buyers {
		buyer.CloseIdleConnections()
	}
	return err
}

// These limits are the exchange's defaults.
const (
	maxBody, maxHeader = 64 << 10, 16 << 10
	maxConns           = 10_000 // to a server, and to each buyer
	ioTimeout          = 10 * time.Second
	idleTimeout        = time.Minute
)

// newHTTPServer returns a server without optional features that cost time.
func newHTTPServer(handle fasthttp.RequestHandler) *fasthttp.Server {
	return &fasthttp.Server{
		Handler: handle, Concurrency: maxConns, ReadBufferSize: maxHeader, MaxRequestBodySize: maxBody,
		ReadTimeout: ioTimeout, WriteTimeout: ioTimeout, IdleTimeout: idleTimeout,
		NoDefaultContentType: true, NoDefaultServerHeader: true, CloseOnShutdown: true,
		DisablePreParseMultipartForm: true,
	}
}

// newBuyerClient returns a client that keeps its connections to a buyer.
func newBuyerClient(addr string) *fasthttp.HostClient {
	return &fasthttp.HostClient{
		Addr: addr, MaxConns: maxConns, ReadBufferSize: maxHeader, MaxIdleConnDuration: idleTimeout,
		ConnPoolStrategy: fasthttp.LIFO, NoDefaultUserAgentHeader: true,
	}
}
