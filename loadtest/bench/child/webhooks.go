package child

import (
	"errors"
	"net"
	"strconv"
	"sync"

	"github.com/valyala/fasthttp"
)

// WebhookSpec describes the endpoints that receive webhooks: one process with a port for
// each. The first endpoint never answers.
type WebhookSpec struct{ Endpoints int }

// webhookEndpoints records the received webhooks by id, so that a repeat counts once.
type webhookEndpoints struct {
	mu      sync.Mutex
	ids     map[string]struct{}
	closing chan struct{} // closed at the end, to release the endpoint that never answers
}

// startWebhookEndpoints starts the endpoints. A GET returns the number of acknowledged
// webhooks.
func startWebhookEndpoints(spec *WebhookSpec) (at Addresses, stop func() error, err error) {
	h := &webhookEndpoints{ids: map[string]struct{}{}, closing: make(chan struct{})}
	ended := make(chan error, spec.Endpoints)
	var servers []*fasthttp.Server
	for i := range spec.Endpoints {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return at, nil, err
		}
		server := &fasthttp.Server{Handler: h.acknowledge}
		if i == 0 {
			server.Handler = h.neverAnswer
		}
		at.Webhooks, servers = append(at.Webhooks, listener.Addr().String()), append(servers, server)
		go func() { ended <- server.Serve(listener) }()
	}
	at.Listen = at.Webhooks[len(at.Webhooks)-1]
	return at, func() (err error) {
		close(h.closing)
		for _, server := range servers {
			err = errors.Join(err, server.Shutdown(), <-ended)
		}
		return err
	}, nil
}

func (h *webhookEndpoints) acknowledge(ctx *fasthttp.RequestCtx) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if ctx.IsPost() {
		h.ids[string(ctx.Request.Header.Peek("webhook-id"))] = struct{}{}
		return
	}
	ctx.SetBodyString(strconv.Itoa(len(h.ids)))
}

func (h *webhookEndpoints) neverAnswer(*fasthttp.RequestCtx) { <-h.closing }
