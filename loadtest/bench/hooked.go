package main

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

// hookedSpec describes the endpoints that webhooks go to: so many, each on a port of
// its own, in one process. The first one never answers.
type hookedSpec struct{ Endpoints int }

// hooked counts what the endpoints have heard: each event once, by its id.
type hooked struct {
	mu      sync.Mutex
	ids     map[string]struct{}
	silence chan struct{} // closed when the endpoint that never answers may go
}

// serveHooked are the endpoints. They end when their standard input does. Any GET is
// answered with how many events have been acknowledged.
func serveHooked(in io.Reader, out io.Writer) error {
	var spec hookedSpec
	input := json.NewDecoder(in)
	if err := input.Decode(&spec); err != nil {
		return fmt.Errorf("cannot read the specification: %w", err)
	}
	h := &hooked{ids: map[string]struct{}{}, silence: make(chan struct{})}
	ended := make(chan error, spec.Endpoints)
	var at serving
	var servers []*fasthttp.Server
	for i := range spec.Endpoints {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		server := &fasthttp.Server{Handler: h.acknowledge}
		if i == 0 {
			server.Handler = h.stay
		}
		at.Hooked, servers = append(at.Hooked, listener.Addr().String()), append(servers, server)
		go func() { ended <- server.Serve(listener) }()
	}
	at.Listen = at.Hooked[len(at.Hooked)-1]
	if err := json.NewEncoder(out).Encode(at); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, in) // to its end
	close(h.silence)
	var err error
	for _, server := range servers {
		err = errors.Join(err, server.Shutdown(), <-ended)
	}
	return err
}

func (h *hooked) acknowledge(ctx *fasthttp.RequestCtx) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if ctx.IsPost() {
		h.ids[string(ctx.Request.Header.Peek("webhook-id"))] = struct{}{}
		return
	}
	ctx.SetBodyString(strconv.Itoa(len(h.ids)))
}

func (h *hooked) stay(*fasthttp.RequestCtx) { <-h.silence }

func (b *bench) startHooked(endpoints int) (*process, error) {
	return startRole(b.ctx, b.cores.client, "role-hooked", hookedSpec{Endpoints: endpoints})
}

// heard is how many events the endpoints have acknowledged.
func (b *bench) heard(endpoints *process) (n int, err error) {
	err = b.read("http://"+endpoints.Listen+"/", func(d *json.Decoder) error { return d.Decode(&n) })
	return n, err
}
