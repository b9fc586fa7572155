package admin

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/server/admin/clusterapi"
	"pingpost/server/servertest"
)

// fakeCluster is the controller of a cluster. It notes the calls, with the number of log entries then.
type fakeCluster struct {
	err     error
	entries func() int
	calls   []string
	before  int
}

func (c *fakeCluster) ClusterStatus() clusterapi.Status {
	number, contact := uint64(41), 1500*time.Microsecond
	lag := uint64(1)
	return clusterapi.Status{Node: "a", Role: clusterapi.RoleLeader, Leader: "a", Term: 3, Entry: 42, Nodes: []clusterapi.NodeStatus{
		{ID: "b", Address: "10.0.0.2:7400", Role: clusterapi.RoleFollower, Member: true, Reachable: true, LastContact: &contact, Entry: &number, Lag: &lag, Version: "1.2.3"},
		{ID: "c", Address: "10.0.0.3:7400", Role: clusterapi.RoleUnknown, Error: "connection refused"},
	}}
}

func (c *fakeCluster) note(call string) error {
	c.calls, c.before = append(c.calls, call), c.entries()
	return c.err
}

func (c *fakeCluster) AddNode(id string) error    { return c.note("add " + id) }
func (c *fakeCluster) RemoveNode(id string) error { return c.note("remove " + id) }
func (c *fakeCluster) HandOver(to string) error   { return c.note("hand over to " + to) }

// openCluster returns an admin server of an exchange with this cluster.
func openCluster(t *testing.T, cluster *fakeCluster) *accountsFixture {
	return openAccountsWith(t, servertest.Password, func(l *accountsFixture) {
		cluster.entries = l.log.EntryCount
		l.cluster = cluster
	})
}

func TestClusterStatus(t *testing.T) {
	l := openCluster(t, &fakeCluster{})
	l.createUser("ann", market.RoleViewer)
	const want = `{"node":"a","role":"leader","leader":"a","term":3,"entry":42,"nodes":[` +
		`{"id":"b","address":"10.0.0.2:7400","role":"follower","member":true,"reachable":true,"last_contact_ms":1,"entry":41,"lag_entries":1,"version":"1.2.3","error":null},` +
		`{"id":"c","address":"10.0.0.3:7400","role":"unknown","member":false,"reachable":false,"last_contact_ms":null,"entry":null,"lag_entries":null,"version":null,"error":"connection refused"}]}`
	if got := l.send("GET /admin/v1/cluster", basicAuth("ann", testPassword), ""); got.status != 200 || strings.TrimSpace(got.body) != want {
		t.Errorf("got %+v\nwant %s", got, want)
	}
	for _, line := range []string{"POST /admin/v1/cluster/nodes/b", "DELETE /admin/v1/cluster/nodes/b", "POST /admin/v1/cluster/handover"} {
		if got := l.send(line, basicAuth("ann", testPassword), ""); !got.has(403, "needs the role admin") {
			t.Errorf("%s by a viewer: %+v", line, got)
		}
	}
}

func TestSingleNode(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	const want = `{"node":null,"role":"single","leader":null,"term":0,"entry":7,"nodes":[]}`
	if got := l.send("GET /admin/v1/cluster", servertest.BasicAuth, ""); got.status != 200 || strings.TrimSpace(got.body) != want {
		t.Errorf("got %+v\nwant %s", got, want)
	}
	for _, line := range []string{"POST /admin/v1/cluster/nodes/b", "DELETE /admin/v1/cluster/nodes/b", "POST /admin/v1/cluster/handover"} {
		if got := l.send(line, servertest.BasicAuth, ""); !got.has(409, `"conflict"`) || !strings.Contains(got.body, "single node") {
			t.Errorf("%s: %+v", line, got)
		}
	}
}

// The status of a starting exchange is available, and its changes are not.
func TestClusterWhileStarting(t *testing.T) {
	cluster := &fakeCluster{entries: func() int { return 0 }}
	address := serveAdmin(t, stubOperator{cluster: cluster})
	k := servertest.Dial(t, address)
	defer k.Close()
	for line, want := range map[string]int{"GET /admin/v1/cluster": 200, "POST /admin/v1/cluster/handover": 503} {
		if status, _, body := k.Send(servertest.FormatRequest(line, servertest.BasicAuth, "")); status != want {
			t.Errorf("%s: %d %s", line, status, body)
		}
	}
	if cluster.calls != nil {
		t.Errorf("calls %q", cluster.calls)
	}
}

func TestChangesOfCluster(t *testing.T) {
	for name, row := range map[string]struct {
		line, body string
		err        error
		status     int
		text, call string
	}{
		"add":                        {"POST /admin/v1/cluster/nodes/b", "", nil, 204, "", "add b"},
		"remove":                     {"DELETE /admin/v1/cluster/nodes/b", "", nil, 204, "", "remove b"},
		"hand over":                  {"POST /admin/v1/cluster/handover", "", nil, 204, "", "hand over to "},
		"hand over, empty object":    {"POST /admin/v1/cluster/handover", "{}", nil, 204, "", "hand over to "},
		"hand over to a node":        {"POST /admin/v1/cluster/handover", `{"to":"b"}`, nil, 204, "", "hand over to b"},
		"hand over to a number":      {"POST /admin/v1/cluster/handover", `{"to":1}`, nil, 422, `"to"`, ""},
		"hand over, no JSON":         {"POST /admin/v1/cluster/handover", `b`, nil, 400, "malformed_json", ""},
		"hand over to unknown":       {"POST /admin/v1/cluster/handover", `{"to":"x"}`, clusterapi.ErrUnknownNode, 422, "GET cluster lists them", "hand over to x"},
		"add unknown":                {"POST /admin/v1/cluster/nodes/x", "", clusterapi.ErrUnknownNode, 404, "cluster.peers", "add x"},
		"add unreachable":            {"POST /admin/v1/cluster/nodes/b", "", clusterapi.ErrNotReachable, 409, `\"b\" cannot be reached`, "add b"},
		"add a stale copy":           {"POST /admin/v1/cluster/nodes/b", "", fmt.Errorf("%w: it ends with entry 4", clusterapi.ErrStaleCopy), 409, "Delete its data directory, except keys/exchange.key", "add b"},
		"hand over, no one to":       {"POST /admin/v1/cluster/handover", "", clusterapi.ErrNotTakenOver, 409, "No other member", "hand over to "},
		"hand over, lag":             {"POST /admin/v1/cluster/handover", `{"to":"b"}`, clusterapi.ErrNotTakenOver, 409, `\"b\" did not take over`, "hand over to b"},
		"add a member":               {"POST /admin/v1/cluster/nodes/b", "", clusterapi.ErrAlreadyMember, 409, "member already", "add b"},
		"remove another":             {"DELETE /admin/v1/cluster/nodes/b", "", clusterapi.ErrNotMember, 409, "not a member", "remove b"},
		"remove the leader":          {"DELETE /admin/v1/cluster/nodes/a", "", clusterapi.ErrIsLeader, 409, "hand over to another node first", "remove a"},
		"an election":                {"POST /admin/v1/cluster/nodes/b", "", clusterapi.ErrNotLeader, 503, "no leader at present", "add b"},
		"another error":              {"POST /admin/v1/cluster/nodes/b", "", errors.New("timed out"), 503, "timed out", "add b"},
		"an id that needs an escape": {"POST /admin/v1/cluster/nodes/%22%0A", "", clusterapi.ErrUnknownNode, 404, "not_found", "add \"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := &fakeCluster{err: row.err}
			l := openCluster(t, cluster)
			if got := l.send(row.line, servertest.BasicAuth, row.body); !got.has(row.status, row.text) {
				t.Errorf("got %+v, want %d %s", got, row.status, row.text)
			}
			if want := []string{row.call}; row.call != "" && !slices.Equal(cluster.calls, want) || row.call == "" && cluster.calls != nil {
				t.Errorf("calls %q, want %q", cluster.calls, row.call)
			}
		})
	}
}

// Each change has a record before it. A successful hand-over has no other one: afterwards this node
// cannot write to the log. Without its record, no change runs.
func TestRecordsOfClusterChanges(t *testing.T) {
	for name, row := range map[string]struct {
		line, body string
		err        error
		target     string
		request    string
		records    []event.OperatorActionPhase
		statuses   []uint32
	}{
		"add":              {"POST /admin/v1/cluster/nodes/b", "", nil, "b", "", []event.OperatorActionPhase{event.ActionBegun, event.ActionEnded}, []uint32{0, 204}},
		"remove":           {"DELETE /admin/v1/cluster/nodes/b", "", nil, "b", "", []event.OperatorActionPhase{event.ActionBegun, event.ActionEnded}, []uint32{0, 204}},
		"hand over":        {"POST /admin/v1/cluster/handover", `{"to":"b"}`, nil, "", `{"to":"b"}`, []event.OperatorActionPhase{event.ActionWhole}, []uint32{204}},
		"failed hand-over": {"POST /admin/v1/cluster/handover", `{"to":"b"}`, clusterapi.ErrNotReachable, "", `{"to":"b"}`, []event.OperatorActionPhase{event.ActionWhole, event.ActionEnded}, []uint32{204, 409}},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := &fakeCluster{err: row.err}
			l := openCluster(t, cluster)
			first := l.log.EntryCount()
			l.send(row.line, servertest.BasicAuth, row.body)
			var phases []event.OperatorActionPhase
			var statuses []uint32
			records := l.actionRecords(first)
			for _, r := range records {
				phases, statuses = append(phases, r.Phase), append(statuses, r.Status)
			}
			if !slices.Equal(phases, row.records) || !slices.Equal(statuses, row.statuses) || cluster.before != first+1 {
				t.Fatalf("records %v with %v, %d before the change; want %v with %v, 1 before", phases, statuses, cluster.before-first, row.records, row.statuses)
			}
			if r := records[0]; r.TargetKind != "node" || r.Target != row.target || r.Request != row.request || records[len(records)-1].Action != r.Action {
				t.Errorf("record %s", event.DescribeAsJSON(&r))
			}
			cluster.calls = nil
			l.log.Refuse(func(int, []byte) error { return errors.New("not the leader") })
			if got := l.send(row.line, servertest.BasicAuth, row.body); got.status != 503 || cluster.calls != nil {
				t.Errorf("without a record: %+v, calls %q", got, cluster.calls)
			}
		})
	}
}
