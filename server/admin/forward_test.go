package admin

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/internal/must"
	"pingpost/report"
	"pingpost/server/forward"
	"pingpost/server/httperror"
	"pingpost/server/servertest"
)

// nodeOperator is a process of a node without a report.
type nodeOperator struct {
	*accountsFixture
	seq     uint64
	engine  atomic.Pointer[engine.Engine]
	reports atomic.Int64 // calls of Report
}

func (o *nodeOperator) StateHash() (seq, hash uint64, err error) { return o.seq, 0, nil }

func (o *nodeOperator) Report() *report.Report {
	o.reports.Add(1)
	return nil
}

func (o *nodeOperator) EngineWhileReady() *engine.Engine { return o.engine.Load() }

// adminCluster has two nodes with one log. A test sets which of them leads.
type adminCluster struct {
	leader, follower       *accountsFixture
	leaderNode, followNode *nodeOperator
	leads                  atomic.Bool // the leader leads; otherwise there is none
}

func openForwarding(t *testing.T) *adminCluster {
	t.Helper()
	c := new(adminCluster)
	c.leads.Store(true)
	var internal string
	open := func(isLeader bool, seq uint64) (*accountsFixture, *nodeOperator) {
		node := &nodeOperator{seq: seq}
		l := openAccountsWith(t, servertest.Password, func(l *accountsFixture) {
			if c.leader != nil {
				l.engine, l.log = c.leader.engine, c.leader.log
			}
			node.accountsFixture = l
			node.engine.Store(l.engine)
			l.admin.exchange = node
			f := forward.New(forward.Options{
				Leader: func() forward.Leader {
					switch {
					case !c.leads.Load():
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
			l.admin.SetCluster(Cluster{Forward: f, ReportLag: func() (time.Duration, bool) { return 1234567 * time.Microsecond, true }, ReadEngine: node.engine.Load})
			if isLeader {
				internal = servertest.StartServer(t, func(listener net.Listener) error {
					return f.Serve(listener, forward.Handlers{Admin: l.admin.DecideRequest, MaxHeader: 16 << 10})
				}, f.Shutdown)
			}
		})
		return l, node
	}
	c.leader, c.leaderNode = open(true, 7)
	c.follower, c.followNode = open(false, 9)
	return c
}

// Each node answers for itself: health, metrics, leadership and files. The leader answers the rest.
func TestFollowerAnswersOnlyForItself(t *testing.T) {
	c := openForwarding(t)
	c.followNode.engine.Store(nil)
	for _, row := range []struct {
		line       string
		status     int
		leaderToo  int
		withLeader bool // the answer comes from the leader
	}{
		{"GET /healthz", 200, 200, false},
		{"GET /readyz", 200, 200, false},
		{"GET /metrics", 200, 200, false},
		{"GET /leader", 503, 200, false},
		{"GET /", 200, 200, false},
		{"GET /help/docs", 200, 200, false},
		{"GET /admin/v1/hash", 200, 200, true},
		{"GET /admin/v1/users", 200, 200, true},
		{"GET /unknown", 404, 404, true},
		{"PUT /metrics", 405, 405, true},
	} {
		got := c.follower.send(row.line, servertest.BasicAuth, "")
		if got.status != row.status {
			t.Errorf("%s: %+v", row.line, got)
		}
		if lead := c.leader.send(row.line, servertest.BasicAuth, ""); lead.status != row.leaderToo {
			t.Errorf("%s at the leader: %+v", row.line, lead)
		}
		c.leads.Store(false)
		if alone := c.follower.send(row.line, servertest.BasicAuth, ""); (alone.status == 503) != (row.withLeader || row.status == 503) {
			t.Errorf("%s without a leader: %+v", row.line, alone)
		}
		c.leads.Store(true)
	}
	c.leads.Store(false)
	for line, status := range map[string]int{"GET /admin/v1/cluster": 200, "POST /admin/v1/cluster/nodes/c": 503, "POST /admin/v1/cluster/handover": 503} {
		if got := c.follower.send(line, servertest.BasicAuth, ""); got.status != status {
			t.Errorf("%s without a leader: %+v", line, got)
		}
	}
}

// A single node always leads.
func TestSingleNodeLeads(t *testing.T) {
	if status, _, body := servertest.SendOverNewConn(t, serveAdmin(t, stubOperator{}), "GET", "/leader"); status != 200 || body != "leader\n" {
		t.Errorf("%d %s", status, body)
	}
}

// An operator can sign in at any node, and act there, in a session on the leader. The audit log has
// the operator's address.
func TestSessionAtFollower(t *testing.T) {
	c := openForwarding(t)
	c.follower.createUser("ann", market.RoleAdmin)
	session := c.follower.mustLogIn("ann", testPassword)
	for _, at := range []*accountsFixture{c.follower, c.leader} {
		if got := at.send("GET /admin/v1/session", session.read, ""); !got.has(200, `"ann"`) {
			t.Errorf("%+v", got)
		}
	}
	from := c.leader.log.EntryCount()
	if got := c.follower.send("POST /admin/v1/buyers/buy_blue/pause", session.write, ""); got.status >= 300 {
		t.Errorf("%+v", got)
	}
	records := c.leader.actionRecords(from)
	if len(records) != 2 || records[0].Address != "127.0.0.1" {
		t.Errorf("%+v", records)
	}
}

// A follower answers reads of its report if the client accepts old data and has an API token. All
// other reads go to the leader.
func TestStaleReads(t *testing.T) {
	c := openForwarding(t)
	c.leader.createUser("ann", market.RoleViewer)
	session := c.leader.mustLogIn("ann", testPassword)
	token := "Authorization: Bearer " + c.leader.addToken(session) + "\r\n"
	for _, row := range []struct {
		query, headers string
		local          bool
	}{
		{"/admin/v1/report?consistency=stale", token, true},
		{"/admin/v1/leads?consistency=stale&limit=3", token, true},
		{"/admin/v1/leads/export?consistency=stale", token, true},
		{"/admin/v1/auctions?consistency=stale", token, true},
		{"/admin/v1/unmatched?consistency=stale", token, true},
		{"/admin/v1/report?consistency=latest", token, false},
		{"/admin/v1/report", token, false},
		{"/admin/v1/report?consistency=stale", session.read, false},
		{"/admin/v1/report?consistency=stale", session.read + token, false},
		{"/admin/v1/report?consistency=stale", servertest.BasicAuth, false},
		{"/admin/v1/hash?consistency=stale", token, false},
	} {
		before := c.followNode.reports.Load()
		got := c.follower.send("GET "+row.query, row.headers, "")
		if local := c.followNode.reports.Load() > before; local != row.local || got.header.Get("Pingpost-Lag") != "" {
			t.Errorf("%s: at the follower: %t, %+v", row.query, local, got)
		}
		c.leads.Store(false)
		if got := c.follower.send("GET "+row.query, row.headers, ""); (got.status == 503) == row.local {
			t.Errorf("%s without a leader: %+v", row.query, got)
		}
		c.leads.Store(true)
	}
	c.followNode.engine.Store(nil)
	if got := c.follower.send("GET /admin/v1/report?consistency=stale", token, ""); got.status != 404 || got.header.Get("Pingpost-Lag") != "" {
		t.Errorf("without an engine: %+v", got)
	}
	if got := c.leader.send("GET /admin/v1/report?consistency=old", token, ""); !got.has(404, "") && !servertest.HasFieldError(got.status, got.body, "consistency", "not_allowed_value") {
		t.Errorf("%+v", got)
	}
}

// A successful answer from a follower's report says how far that is behind.
func TestStaleReadHasLag(t *testing.T) {
	c := openForwarding(t)
	c.leader.createUser("ann", market.RoleViewer)
	token := c.leader.addToken(c.leader.mustLogIn("ann", testPassword))
	c.follower.admin.answer = func(*fasthttp.RequestCtx) {}
	var ctx fasthttp.RequestCtx
	ctx.Request.SetRequestURI("/admin/v1/report?consistency=stale")
	ctx.Request.Header.Set("Authorization", "Bearer "+token)
	if c.follower.admin.http.Handler(&ctx); string(ctx.Response.Header.Peek("Pingpost-Lag")) != "1.235" {
		t.Error(&ctx.Response)
	}
}

// A leader that has no engine yet holds the request until it has one.
func TestLeaderWithoutEngineHoldsRequests(t *testing.T) {
	c := openForwarding(t)
	c.leader.createUser("ann", market.RoleAdmin)
	token := "Authorization: Bearer " + c.leader.addToken(c.leader.mustLogIn("ann", testPassword)) + "\r\n"
	ready := c.leaderNode.engine.Swap(nil)
	time.AfterFunc(100*time.Millisecond, func() { c.leaderNode.engine.Store(ready) })
	if got := c.follower.send("POST /admin/v1/buyers/buy_blue/pause", servertest.BasicAuth, ""); got.status >= 300 {
		t.Errorf("%+v", got)
	}
	ready = c.leaderNode.engine.Swap(nil)
	time.AfterFunc(100*time.Millisecond, func() { c.leaderNode.engine.Store(ready) })
	k := servertest.Dial(t, c.leader.address)
	fmt.Fprintf(k, "PUT /admin/v1/users/bob HTTP/1.1\r\nHost: x\r\n%sExpect: 100-continue\r\nContent-Length: 18\r\n\r\n", token)
	if line := must.Value(k.Answer.ReadString('\n'))(t); line != "HTTP/1.1 100 Continue\r\n" {
		t.Error(line)
	}
}

// An answer says that the request may be sent again only if the log has no event of the request.
func TestActionIsMarkedOnlyBeforeItsRecord(t *testing.T) {
	for after, marked := range map[int]bool{0: true, 1: false} {
		l := openAccountsWith(t, servertest.Password, func(l *accountsFixture) { l.admin.node = &Cluster{ReadEngine: func() *engine.Engine { return nil }} })
		from := l.log.EntryCount()
		l.log.Refuse(func(index int, _ []byte) error {
			if index >= from+after {
				return engine.ErrNotLeader
			}
			return nil
		})
		var ctx fasthttp.RequestCtx
		ctx.Request.Header.SetMethod("POST")
		ctx.Request.SetRequestURI("/admin/v1/buyers/buy_blue/pause")
		name, value, _ := strings.Cut(strings.TrimSpace(servertest.BasicAuth), ": ")
		ctx.Request.Header.Set(name, value)
		l.admin.DecideRequest(&ctx)
		var body struct{ Error string }
		must.Succeed(t, json.Unmarshal(ctx.Response.Body(), &body))
		if ctx.Response.StatusCode() != 503 || body.Error != "unavailable" || httperror.MaySendAgain(&ctx) != marked {
			t.Errorf("after %d events: %d %s, may be sent again: %t", after, ctx.Response.StatusCode(), ctx.Response.Body(), httperror.MaySendAgain(&ctx))
		}
	}
}

// A test lead that finds no leader is not marked, because the log has the begin of the action.
func TestRecordedActionIsNeverMarked(t *testing.T) {
	l := openAccountsWith(t, servertest.Password, nil)
	act := l.admin.recordAction("POST", "/admin/v1/bench", func(ctx *fasthttp.RequestCtx) {
		httperror.WriteEngineErrorOrUnavailable(ctx, httperror.NewRequestID(), engine.ErrNotLeader)
	})
	var ctx fasthttp.RequestCtx
	before := l.log.EntryCount()
	if act(&ctx); httperror.MaySendAgain(&ctx) || l.log.EntryCount() == before {
		t.Errorf("may be sent again: %t, %d records", httperror.MaySendAgain(&ctx), l.log.EntryCount()-before)
	}
}
