package cluster

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pingpost/internal/must"
	"pingpost/wal"
)

func TestMain(m *testing.M) {
	if argument := os.Getenv("CLUSTER_TEST_NODE"); argument != "" {
		os.Exit(runNode(argument))
	}
	goleak.VerifyTestMain(m)
}

// leads is a state machine that remembers the entries that it applied.
type leads struct {
	mu      sync.Mutex
	applied []string
}

func (l *leads) add(seq uint64, data []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if seq != uint64(len(l.applied)+1) {
		return fmt.Errorf("entry %d is applied after %d", seq, len(l.applied))
	}
	l.applied = append(l.applied, string(data))
	return nil
}

// Hash sums the lengths and first bytes; a test changes an entry.
func (l *leads) Hash() (seq, hash uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.applied {
		hash = hash*31 + uint64(len(e)) + uint64(e[0])
	}
	return uint64(len(l.applied)), hash
}

func (l *leads) Apply(seq uint64, _ int64, data []byte) error { return l.add(seq, data) }

func (l *leads) list() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.applied)
}

// commit is a waiter that applies its own entry, like the engine's.
type commit struct {
	machine *leads
	data    []byte
	done    chan error
	seq     uint64
}

func (c *commit) Committed(seq uint64, _ int64) { c.seq = seq; c.done <- c.machine.add(seq, c.data) }
func (c *commit) Failed(err error)              { c.done <- err }

// member is a node of a test's cluster with its data.
type member struct {
	t       testing.TB
	id      string
	dir     string
	address string
	tune    func(*Options)
	machine *leads
	log     *wal.Replica
	*Node
	led     chan *Log             // the logs with which the node began to lead
	logDisk atomic.Pointer[error] // the error of the disk with the node's log; nil: it works
}

func (m *member) Lead(log *Log) { m.led <- log }
func (m *member) Follow()       {}

func newMember(t testing.TB, id string, tune func(*Options)) *member {
	return &member{t: t, id: id, dir: t.TempDir(), address: "127.0.0.1:0", tune: tune}
}

// start starts the member, at its earlier address after a restart. It replays the log first.
func (m *member) start() {
	m.t.Helper()
	listener := must.Value(net.Listen("tcp", m.address))(m.t)
	m.address = listener.Addr().String()
	m.machine, m.led = new(leads), make(chan *Log, 16)
	reach := must.Value(CompactedEntry(filepath.Join(m.dir, "raft")))(m.t)
	m.log = must.Value(wal.OpenReplica(m.dir, wal.Options{SegmentSize: 64 << 10, MustReach: reach, Faults: wal.Faults{Write: m.writeLog}}))(m.t)
	reader := must.Value(m.log.NewReader(1))(m.t)
	for last, _ := m.log.LastEntry(); uint64(len(m.machine.applied)) < last; {
		e := must.Value(reader.Next())(m.t)
		must.Succeed(m.t, m.machine.add(e.Seq, e.Data))
	}
	reader.Close()
	opt := Options{
		ID: m.id, Dir: filepath.Join(m.dir, "raft"), DataDir: m.dir, Listener: listener,
		Address: m.address, Dial: func(_, address string, timeout time.Duration) (net.Conn, error) {
			return net.DialTimeout("tcp", address, timeout)
		},
		Log: m.log, StateMachine: m.machine, Roles: m,
		HeartbeatTimeout: 500 * time.Millisecond, MaxStall: time.Second, // so that a busy machine causes no election
		Now: func() int64 { return time.Now().UnixNano() }, Logger: slog.New(slog.DiscardHandler),
	}
	if m.tune != nil {
		m.tune(&opt)
	}
	m.Node = must.Value(Start(opt))(m.t)
	m.t.Cleanup(m.kill)
}

func (m *member) writeLog(int) (int, error) {
	if err := m.logDisk.Load(); err != nil {
		return 0, *err
	}
	return 0, nil
}

// kill stops the member like a crash of its process: its connections break first, so proposals are left
// without a result.
func (m *member) kill() {
	if m.Node == nil {
		return
	}
	m.network.closeAll()
	m.shutDown()
	m.log.Close()
	m.Node = nil
}

// testCluster is a cluster of members in one process.
type testCluster struct {
	t       testing.TB
	members []*member
}

func startCluster(t testing.TB, tune func(*Options)) *testCluster {
	t.Helper()
	c := &testCluster{t: t}
	for _, id := range []string{"a", "b", "c"} {
		m := newMember(t, id, tune)
		m.start()
		c.members = append(c.members, m)
	}
	must.Succeed(t, c.members[0].Bootstrap())
	leader, _ := c.awaitLeader()
	for _, m := range c.members[1:] {
		must.Succeed(t, leader.Add(m.id, m.address))
	}
	c.awaitMembers(len(c.members))
	return c
}

// awaitMembers waits until every node knows that many members. Before that, a cluster that has just grown
// from two to three nodes does not survive the loss of its leader: the node that does not know the third
// member refuses to vote for it, and lacks the entry that the third one has.
func (c *testCluster) awaitMembers(want int) {
	c.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if !slices.ContainsFunc(c.members, func(m *member) bool { return len(m.raft.GetConfiguration().Configuration().Servers) != want }) {
			return
		}
	}
	c.t.Fatalf("a node does not know all %d members", want)
}

// awaitLeader waits for a member that began to lead, and still does.
func (c *testCluster) awaitLeader() (*member, *Log) {
	c.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for time.Now().Before(deadline) {
		for _, m := range c.members {
			if m.Node == nil {
				continue
			}
			l := m.leading.Load()
			if l == nil {
				continue
			}
			if len(m.led) > 0 {
				<-m.led
			}
			return m, &Log{l}
		}
		time.Sleep(time.Millisecond)
	}
	for _, m := range c.members {
		if m.Node != nil {
			c.t.Logf("node %s: %v, error %v", m.id, m.raft.Stats(), m.Err())
		}
	}
	c.t.Fatal("the cluster has no leader")
	return nil, nil
}

// put appends an entry at the member and returns its result.
func (m *member) put(data string) error {
	c := &commit{machine: m.machine, data: []byte(data), done: make(chan error, 1)}
	if err := m.appendEntry(c.data, c); err != nil {
		return err
	}
	return <-c.done
}

// awaitEqual waits until all running members have applied the same entries, and returns these.
func (c *testCluster) awaitEqual(atLeast int) []string {
	c.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	var lists [][]string
	for time.Now().Before(deadline) {
		lists = nil
		for _, m := range c.members {
			if m.Node != nil {
				must.Succeed(c.t, m.Err())
				lists = append(lists, m.machine.list())
			}
		}
		if len(lists[0]) >= atLeast && !slices.ContainsFunc(lists, func(l []string) bool { return !slices.Equal(l, lists[0]) }) {
			return lists[0]
		}
		time.Sleep(5 * time.Millisecond)
	}
	for i, l := range lists {
		c.t.Errorf("member %d has applied %d entries", i, len(l))
	}
	c.t.Fatal("the members differ")
	return nil
}

// putUntilDone repeats an entry until a leader has committed it. It returns whether an earlier try had an
// unknown result, so that the entry may be in the log twice.
func (c *testCluster) putUntilDone(data string) (unknown bool) {
	for {
		m, _ := c.awaitLeader()
		err := m.put(data)
		switch {
		case err == nil:
			return unknown
		case errors.Is(err, ErrUnknown):
			unknown = true
		case !errors.Is(err, ErrNotLeader):
			c.t.Errorf("entry %s: %v", data, err)
			return unknown
		}
		time.Sleep(time.Millisecond)
	}
}

// appendEntry appends an entry to the log of the node's present leadership.
func (n *Node) appendEntry(data []byte, w wal.Waiter) error {
	l := n.leading.Load()
	if l == nil {
		return ErrNotLeader
	}
	return (&Log{l}).Append(data, w)
}
