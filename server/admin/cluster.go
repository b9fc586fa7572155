package admin

import (
	"bytes"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/server/connection"
	"pingpost/server/forward"
	"pingpost/server/httperror"
	"pingpost/server/request"
)

// Cluster connects the admin API with the cluster of which this node is a part.
type Cluster struct {
	Forward *forward.Forwarder
	// ReportLag returns how far the report of this node is behind the leader's log. ok is false while
	// this node has no report.
	ReportLag func() (lag time.Duration, ok bool)
	// ReadEngine returns an engine that only reads the state of this node, or nil while it starts.
	ReadEngine func() *engine.Engine
}

const (
	pathLeader  = "/leader"
	pathCluster = "/admin/v1/cluster"
	headerLag   = "Pingpost-Lag" // seconds

	consistencyLatest = "latest"
	consistencyStale  = "stale"
)

// localPaths are the paths that each node answers itself, beside files and pathCluster.
var localPaths = map[string]bool{"/healthz": true, "/readyz": true, "/metrics": true, pathLeader: true}

// staleReads are the paths that a node may answer from its own report.
var staleReads = map[string]bool{
	"/admin/v1/report": true, "/admin/v1/leads": true, "/admin/v1/leads/export": true, "/admin/v1/auctions": true, "/admin/v1/unmatched": true,
}

// SetCluster makes this server the admin API of a node of a cluster: the leader answers requests, except
// those for the node itself. Call it before Serve.
func (a *Admin) SetCluster(c Cluster) {
	a.node = &c
	handler := c.Forward.ServeClients(forward.Admin, maxBody, a.DecideRequest)
	expect := c.Forward.ServeExpect(forward.Admin, a.decideExpectInCluster)
	a.http.Handler = func(ctx *fasthttp.RequestCtx) {
		switch lag, stale := a.lagForStaleRead(ctx); {
		case stale:
			a.answer(ctx)
			if ctx.Response.StatusCode() == fasthttp.StatusOK {
				ctx.Response.Header.Set(headerLag, strconv.FormatFloat(lag.Seconds(), 'f', 3, 64))
			}
		case a.isForThisNode(&ctx.Request.Header):
			a.answer(ctx)
		default:
			handler(ctx)
		}
	}
	a.http.ExpectHandler = func(ctx *fasthttp.RequestCtx) int {
		if a.isForThisNode(&ctx.Request.Header) {
			return a.decideExpectContinue(ctx)
		}
		return expect(ctx)
	}
}

// DecideRequest answers a request that another node has forwarded, as the leader. It needs the remote
// address of the client in ctx. Without an engine it marks the answer: httperror.MaySendAgain.
func (a *Admin) DecideRequest(ctx *fasthttp.RequestCtx) {
	if a.engineOfRequestOrNil(ctx) != nil {
		a.answer(ctx)
		return
	}
	httperror.WriteMaySendAgain(ctx, httperror.NewRequestID())
	if ctx.Request.Header.ContentLength() != 0 && ctx.RequestBodyStream() != nil {
		connection.CloseAfterAnswerDrainUnlessTimeout(ctx, httperror.Unavailable)
	}
}

// decideExpectInCluster is decideExpectContinue for the leader of a cluster.
func (a *Admin) decideExpectInCluster(ctx *fasthttp.RequestCtx) (status int) {
	if a.engineOfRequestOrNil(ctx) == nil {
		httperror.WriteMaySendAgain(ctx, httperror.NewRequestID())
		return fasthttp.StatusServiceUnavailable
	}
	return a.decideExpectContinue(ctx)
}

// isForThisNode reports whether the request concerns this node and not the leader: its health and
// metrics, the cluster as this node sees it, and files.
func (a *Admin) isForThisNode(header *fasthttp.RequestHeader) bool {
	path := string(request.TargetPath(header))
	if !header.IsGet() && !header.IsHead() {
		return false
	}
	return localPaths[path] || a.files[path] || path == pathCluster && !a.hasSessionCookie(header)
}

// hasSessionCookie reports whether the request has the cookie of a session. Only the leader knows sessions.
func (a *Admin) hasSessionCookie(header *fasthttp.RequestHeader) bool {
	return len(header.Cookie(sessionCookieNameWithPort(header))) > 0
}

// lagForStaleRead returns how far the data of this node is behind. stale reports whether this node may
// answer the request from that data. That requires an API token: sessions exist only on the leader, and
// a password can need an event.
func (a *Admin) lagForStaleRead(ctx *fasthttp.RequestCtx) (lag time.Duration, stale bool) {
	header := &ctx.Request.Header
	if a.node.ReportLag == nil || !header.IsGet() || !staleReads[string(request.TargetPath(header))] || string(ctx.QueryArgs().Peek("consistency")) != consistencyStale {
		return 0, false
	}
	scheme, value, _ := bytes.Cut(header.Peek(fasthttp.HeaderAuthorization), []byte(" "))
	isToken := bytes.EqualFold(scheme, []byte("Bearer")) && bytes.HasPrefix(bytes.TrimSpace(value), []byte(apiTokenPrefix))
	e := a.node.ReadEngine()
	if !isToken || a.hasSessionCookie(header) || e == nil {
		return 0, false
	}
	if lag, stale = a.node.ReportLag(); stale {
		ctx.SetUserValue(engineKey, e)
	}
	return lag, stale
}

// isKnownConsistency reports whether the parameter consistency is missing or has a known value.
func isKnownConsistency(query *fasthttp.Args) bool {
	given := string(query.Peek("consistency"))
	return !query.Has("consistency") || given == consistencyLatest || given == consistencyStale
}

// serveLeader answers GET /leader, for load balancers: 200 if this node leads.
func (a *Admin) serveLeader(ctx *fasthttp.RequestCtx) {
	if a.node != nil && !a.node.Forward.IsLeader() {
		ctx.SetStatusCode(fasthttp.StatusServiceUnavailable)
		ctx.SetBodyString("not the leader\n")
		return
	}
	ctx.SetBodyString("leader\n")
}
