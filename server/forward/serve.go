package forward

import (
	"io"
	"log"
	"net"
	"net/netip"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/server/connection"
	"pingpost/server/httperror"
)

// Handlers answer the requests that other nodes send to this one.
type Handlers struct {
	Public, Admin fasthttp.RequestHandler            // decide about requests of clients
	Node          map[string]fasthttp.RequestHandler // answer questions of other nodes, by path
	MaxHeader     int                                // greatest size in bytes of a client's head
}

const (
	// keepTime is how long an unused connection of another node stays open. The other node closes it
	// much earlier (idleTime).
	keepTime = 10 * time.Minute
	// internalHead is the size in bytes that suffices for the headers between nodes.
	internalHead = 512
	// maxRequestTime is the most time for a request to arrive. Handlers of uploads extend it.
	maxRequestTime = 2 * time.Minute
	// maxNodes and maxConnsOfNode limit the open connections from other nodes.
	maxNodes       = 16
	maxConnsOfNode = maxConns
)

// Serve answers the requests that other nodes forward over connections of the listener, until Shutdown.
// It never forwards a request again. While this node is not the leader, the answers are 503 with the
// mark httperror.MaySendAgain.
func (f *Forwarder) Serve(listener net.Listener, handlers Handlers) error {
	server := &fasthttp.Server{
		Handler:               f.forwardedHandler(&handlers),
		ConnState:             connection.UpdateHeadScannerOnStateChange,
		Concurrency:           2 * maxNodes * maxConnsOfNode,
		ReadBufferSize:        handlers.MaxHeader + internalHead,
		ReadTimeout:           maxRequestTime,
		WriteTimeout:          maxRequestTime,
		IdleTimeout:           keepTime,
		NoDefaultContentType:  true,
		NoDefaultServerHeader: true,
		SecureErrorLogMessage: true,
		CloseOnShutdown:       true,
		Logger:                log.New(io.Discard, "", 0), // the library's own lines may quote a request

		// The handlers read the bodies.
		StreamRequestBody:            true,
		DisablePreParseMultipartForm: true,
	}
	f.http.Store(server)
	if f.draining.Load() {
		return listener.Close()
	}
	// The handlers expect connections of a Limiter.
	conns := connection.NewLimiter(listener, maxNodes*maxConnsOfNode, maxNodes*maxConnsOfNode, httperror.NewRequestID, func(err error) {
		f.opt.Logger.Warn("cannot accept a connection of another node; trying again", "error", err)
	})
	conns.Shared = true
	return server.Serve(conns)
}

// Shutdown stops forwarding and serving. Requests that other nodes still send get a 503 with the mark
// httperror.MaySendAgain. It waits for the requests in flight.
func (f *Forwarder) Shutdown() error {
	f.draining.Store(true)
	f.conns.closeIdle()
	if server := f.http.Load(); server != nil {
		return server.Shutdown()
	}
	return nil
}

// forwardedHandler returns the handler of requests of other nodes.
func (f *Forwarder) forwardedHandler(handlers *Handlers) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		header := &ctx.Request.Header
		kind := Kind(header.Peek(headerKind))
		client, _ := netip.ParseAddrPort(string(header.Peek(headerClient))) // without one: the zero address
		header.Del(headerKind)
		header.Del(headerClient)
		ctx.SetRemoteAddr(net.TCPAddrFromAddrPort(client))
		setContentTypeRule(ctx, kind)
		switch {
		case kind == Node:
			f.answerNode(ctx, handlers)
		case kind != Public && kind != Admin:
			httperror.Write(ctx, httperror.NewRequestID(), httperror.Framing)
			ctx.SetConnectionClose()
		case f.draining.Load() || !f.IsLeader():
			httperror.WriteMaySendAgain(ctx, httperror.NewRequestID())
			if bodyLength(ctx) != 0 {
				ctx.SetConnectionClose() // the unread body would be parsed as the next request
			}
		case kind == Public:
			handlers.Public(ctx)
		default:
			handlers.Admin(ctx)
		}
		if connection.IsMarkedAuthenticated(ctx) {
			ctx.Response.Header.Set(headerAuthenticated, "1")
		}
		if httperror.MaySendAgain(ctx) {
			mark := "1"
			if httperror.NextLeaderAnswers(ctx) {
				mark = markEvent
			}
			ctx.Response.Header.Set(headerMaySendAgain, mark)
		}
	}
}

// answerNode answers a question of another node.
func (f *Forwarder) answerNode(ctx *fasthttp.RequestCtx, handlers *Handlers) {
	defer func() {
		if cause := recover(); cause != nil {
			httperror.LogPanicAndWriteInternal(ctx, httperror.NewRequestID(), cause, f.opt.Logger)
		}
	}()
	answer := handlers.Node[string(ctx.Path())]
	if answer == nil {
		httperror.Write(ctx, httperror.NewRequestID(), httperror.NotFound)
		if bodyLength(ctx) != 0 {
			ctx.SetConnectionClose()
		}
		return
	}
	answer(ctx)
}
