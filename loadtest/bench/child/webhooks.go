package child

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// serveWebhooks runs the endpoints until the standard input ends. A GET returns the
// number
// of acknowledged webhooks.
func serveWebhooks(in io.Reader, out io.Writer) error {
	var spec WebhookSpec
	input := json.NewDecoder(in)
	if err := input.Decode(&spec); err != nil {
		return fmt.Errorf("cannot read the specification: %w", err)
	}
	h := &webhookEndpoints{ids: map[string]struct{}{}, closing: make(chan struct{})}
	ended := make(chan error, spec.Endpoints)
	var at Addresses
	var servers []*fasthttp.Server
	for i := range spec.Endpoints {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		server := &fasthttp.Server{Handler: h.acknowledge}
		if i == 0 {
			server.Handler = h.neverAnswer
		}
		at.Webhooks, servers = append(at.Webhooks, listener.Addr().String()), append(servers, server)
		go func() { ended <- server.Serve(listener) }()
	}
	at.Listen = at.Webhooks[len(at.Webhooks)-1]
	if err := json.NewEncoder(out).Encode(at); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, in) // wait for the end of the input
	close(h.closing)
	var err error
	for _, server := range servers {
		err = errors.Join(err, server.Shutdown(), <-ended)
	}
	return err
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
