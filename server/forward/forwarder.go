package forward

import (
	"cmp"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// Leader is the node that decides now, as far as this node knows. The zero value: no leader is known.
type Leader struct {
	Self        bool   // this node
	ID, Address string // of another node
}

// Kind says which handler of the leader a request is for.
type Kind string

const (
	Public Kind = "public" // the API for suppliers and buyers
	Admin  Kind = "admin"  // the API for operators
	Node   Kind = "node"   // questions of other nodes
)

// Outcome is the result of a request that this node forwarded or held.
type Outcome string

const (
	Answered Outcome = "answered"  // the leader answered
	NoLeader Outcome = "no_leader" // no leader decided within the time that a request is held
	Unknown  Outcome = "unknown"   // the connection broke before the answer came
)

// Options configure a Forwarder.
type Options struct {
	Leader func() Leader
	Dial   func(id, address string, timeout time.Duration) (net.Conn, error)
	Hold   time.Duration // how long a request waits for a leader; 0: one second
	Logger *slog.Logger
	Count  func(Kind, Outcome) // counts forwarded and held requests; nil: not counted
}

// Forwarder forwards the requests of one node, and serves those that other nodes forward to it.
type Forwarder struct {
	opt      Options
	conns    nodeConns
	http     atomic.Pointer[fasthttp.Server] // of Serve
	draining atomic.Bool
}

// defaultHold is how long a request waits for a leader. An election takes less.
const defaultHold = time.Second

// New returns a forwarder.
func New(opt Options) *Forwarder {
	opt.Hold = cmp.Or(opt.Hold, defaultHold)
	if opt.Count == nil {
		opt.Count = func(Kind, Outcome) {}
	}
	f := &Forwarder{opt: opt}
	f.conns.init(opt.Dial)
	return f
}

// IsLeader reports whether this node decides now.
func (f *Forwarder) IsLeader() bool { return f.opt.Leader().Self }
