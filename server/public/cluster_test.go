package public

import (
	"io"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/state"
	"pingpost/internal/must"
	"pingpost/server/forward"
	"pingpost/server/servertest"
)

// publicNode is the public server of a node of a cluster.
type publicNode struct {
	*Server
	address string
}

// openCluster opens a leader and a follower. The follower has no engine. leads: there is a leader.
func openCluster(t *testing.T, leads *atomic.Bool) (leader, follower publicNode) {
	t.Helper()
	var internal string
	open := func(isLeader bool) (n publicNode) {
		f := forward.New(forward.Options{
			Leader: func() forward.Leader {
				switch {
				case !leads.Load():
					return forward.Leader{}
				case isLeader:
					return forward.Leader{Self: true, ID: "a"}
				}
				return forward.Leader{ID: "a", Address: internal}
			},
			Dial: func(_, address string, limit time.Duration) (net.Conn, error) {
				return net.DialTimeout("tcp", address, limit)
			},
			Logger: slog.New(slog.DiscardHandler),
		})
		n.Server = newServerWith(t, ingestConfig, engine.Options{State: state.New(), Log: new(discardLog)}, func(o *Options) { o.Forward = f })
		fillBucket(t, n.Server)
		n.address = servertest.StartServer(t, n.Serve, n.Shutdown)
		if isLeader {
			internal = servertest.StartServer(t, func(l net.Listener) error {
				return f.Serve(l, forward.Handlers{Public: n.DecideRequest, MaxHeader: 16 << 10})
			}, f.Shutdown)
		} else {
			n.SetEngine(nil)
		}
		return n
	}
	leads.Store(true)
	leader = open(true)
	return leader, open(false)
}

// A supplier may use any node. Documents come from the node itself.
func TestFollowerForwardsAndServesDocuments(t *testing.T) {
	var leads atomic.Bool
	_, follower := openCluster(t, &leads)
	ingest := func(n int) string { return ingestHead(ingestBody(n)) + ingestBody(n) }
	k := servertest.Dial(t, follower.address)
	for n := range 3 {
		if status, header, body := k.Send(ingest(n)); status != 201 || !strings.Contains(body, "ACCEPTED") || header.Get("X-Request-Id") == "" {
			t.Errorf("%d %v %s", status, header, body)
		}
	}
	if open, unauthenticated := follower.limiter.Load().CountConnections(); open != 1 || unauthenticated != 0 {
		t.Errorf("%d connections, %d without a credential", open, unauthenticated)
	}
	leads.Store(false)
	for path, want := range map[string]int{"/openapi.yaml": 200, "/": 200, "/v1/leads/x": 503, "/unknown": 503} {
		if status, _, _ := servertest.Dial(t, follower.address).Send(servertest.FormatRequest("GET "+path, "", "")); status != want {
			t.Errorf("%s without a leader: %d", path, status)
		}
	}
}

// A leader whose engine is not ready holds the requests of both nodes, and counts no error.
func TestLeaderWithoutEngineHoldsRequests(t *testing.T) {
	var leads atomic.Bool
	leader, follower := openCluster(t, &leads)
	e := leader.engine.Load()
	for n, at := range []publicNode{leader, follower} {
		leader.SetEngine(nil)
		time.AfterFunc(100*time.Millisecond, func() { leader.SetEngine(e) })
		if status, _, body := servertest.Dial(t, at.address).Send(ingestHead(ingestBody(n)) + ingestBody(n)); status != 201 {
			t.Errorf("node %d: %d %s", n, status, body)
		}
	}
	var text strings.Builder
	leader.opt.Meter.WriteMetrics(&text)
	for line := range strings.Lines(text.String()) {
		if strings.HasPrefix(line, "pingpost_requests_total") && strings.Contains(line, "503") && !strings.HasSuffix(line, " 0\n") {
			t.Error(line)
		}
	}
}

// A client of a follower that waits for permission to send its body gets it there.
func TestExpectAtFollower(t *testing.T) {
	var leads atomic.Bool
	_, follower := openCluster(t, &leads)
	k := servertest.Dial(t, follower.address)
	body := ingestBody(1)
	must.Value(io.WriteString(k, ingestHead(body, "Expect: 100-continue\r\n")))(t)
	if line := must.Value(k.Answer.ReadString('\n'))(t); line != "HTTP/1.1 100 Continue\r\n" {
		t.Fatal(line)
	}
	must.Value(k.Answer.ReadString('\n'))(t)
	if status, _, text := k.Send(body); status != 201 {
		t.Errorf("%d %s", status, text)
	}
}
