package member

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/valyala/fasthttp"
)

// NodeStatus is the state of one node by its own account.
type NodeStatus struct {
	Node    string `json:"node"`
	Role    string `json:"role"` // leader, follower or failed
	Version string `json:"version"`
	Term    uint64 `json:"term"`
	Entry   uint64 `json:"entry"` // last entry of its log
	Error   string `json:"error,omitempty"`
}

// The roles of NodeStatus.
const (
	RoleLeader   = "leader"
	RoleFollower = "follower"
	RoleFailed   = "failed"
)

// Status returns the state of this node.
func (m *Member) Status() NodeStatus {
	entry, _ := m.opt.Log.LastEntry()
	s := NodeStatus{Node: m.opt.Node, Role: RoleFollower, Version: m.opt.Version, Term: m.Term(), Entry: entry}
	switch {
	case m.Err() != nil:
		s.Role, s.Error = RoleFailed, m.Err().Error()
	case m.HoldsLease():
		s.Role = RoleLeader
	}
	return s
}

const (
	// pathStatus and pathCopy are paths of requests between nodes.
	pathStatus = "/status"
	pathCopy   = "/copy"
	// statusTimeout limits the wait for the state of another node.
	statusTimeout = time.Second
)

// Ask sends the question GET path to another node: forward.Forwarder.Ask.
type Ask func(id, address, path string, limit time.Duration) (status int, body io.ReadCloser, err error)

func (a Ask) status(id, address string) (status NodeStatus, err error) {
	code, body, err := a(id, address, pathStatus, statusTimeout)
	if err != nil {
		return status, err
	}
	defer body.Close()
	if code != fasthttp.StatusOK {
		return status, fmt.Errorf("node %q answers with status %d to a question about its state", id, code)
	}
	if err := json.NewDecoder(body).Decode(&status); err != nil {
		return status, fmt.Errorf("cannot read the state of node %q: %w", id, err)
	}
	return status, nil
}

// RequestHandlers returns the handlers of requests between nodes, by their paths.
func (m *Member) RequestHandlers() map[string]fasthttp.RequestHandler {
	return map[string]fasthttp.RequestHandler{
		pathStatus: func(ctx *fasthttp.RequestCtx) {
			text, err := json.Marshal(m.Status())
			if err != nil {
				panic("BUG: the state of a node has no JSON form: " + err.Error())
			}
			ctx.SetBody(text)
		},
		pathCopy: func(ctx *fasthttp.RequestCtx) {
			stream := fasthttp.NewStreamReader(func(to *bufio.Writer) {
				if err := m.SendCopy(to); err != nil { // without its end, the other node knows that the copy is incomplete
					m.opt.Logger.Warn("another node did not get a complete copy of the data", "error", err)
				}
			})
			ctx.SetBodyStream(&renewingStream{stream, ctx.Conn()}, -1)
		},
	}
}
