package exchange

import (
	"net"
	"testing"

	"pingpost/internal/must"
)

// TestConnectionLimit: a connection above the limit gets a 503, and a closed connection frees its
// place.
func TestConnectionLimit(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]string{
		"in all": "limits: {connections: 3}\n", "from one address": "limits: {max_conns_per_ip: 3}\n",
	} {
		t.Run(name, func(t *testing.T) {
			x := start(t, newTestDir(t, baseConfig+limits))
			var open []*rawConn
			for range 3 {
				w := dial(t, x.PublicAddress())
				w.send(ingestRequest(leadBody(1)))
				w.readAnswer("POST").mustHave(t, 201)
				open = append(open, w)
			}
			for range 2 {
				w := dial(t, x.PublicAddress())
				w.readAnswer("POST").mustFail(t, 503, "unavailable")
				w.mustBeClosed()
			}
			open[0].Close()
			eventually(t, "a connection is free", func() bool {
				w := dial(t, x.PublicAddress())
				defer w.Close()
				w.send(ingestRequest(leadBody(2)))
				return w.readAnswer("POST").status == 201
			})
			open[1].send(ingestRequest(leadBody(3)))
			open[1].readAnswer("POST").mustHave(t, 201)
		})
	}
}

// TestAbortedRequestsFreeConnections: clients that disconnect within a request leave no connection
// and no lead.
func TestAbortedRequestsFreeConnections(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig+"limits: {max_conns_per_ip: 20}\n"))
	fullRequest := ingestRequest(leadBody(1))
	for i := range 60 {
		w := dial(t, x.PublicAddress())
		w.send(fullRequest[:len(fullRequest)*(i%10)/10])
		if tcp, ok := w.Conn.(*net.TCPConn); ok && i%2 == 0 {
			must.Succeed(t, tcp.SetLinger(0))
		}
		w.Close()
		eventually(t, "a connection is free", func() bool {
			v := dial(t, x.PublicAddress())
			defer v.Close()
			v.send(ingestRequest("{"))
			return v.readAnswer("POST").status == 400
		})
	}
	if n := x.state.LeadCountWithExpired(); n != 0 {
		t.Errorf("aborted requests left %d leads", n)
	}
}
