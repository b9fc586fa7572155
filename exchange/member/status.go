package member

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
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
	entry, _ := m.opt.Log.LastDurableEntry()
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

func (m *Member) askStatus(id, address string) (status NodeStatus, err error) {
	conn, err := m.DialForRequests(id, address, statusTimeout)
	if err != nil {
		return status, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(statusTimeout)); err != nil {
		return status, err
	}
	answer, err := get(bufio.NewReader(conn), conn, pathStatus)
	if err != nil {
		return status, err
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(&status); err != nil {
		return status, fmt.Errorf("cannot read the state of node %q: %w", id, err)
	}
	return status, nil
}

// get sends a request between nodes over a connection and returns the head of the answer.
func get(from *bufio.Reader, to interface{ Write([]byte) (int, error) }, path string) (*http.Response, error) {
	request, err := http.NewRequest(http.MethodGet, "http://node"+path, nil)
	if err != nil {
		return nil, err
	}
	request.Close = true
	if err := request.Write(to); err != nil {
		return nil, err
	}
	answer, err := http.ReadResponse(from, request)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		_ = answer.Body.Close() // the answer is useless
		return nil, fmt.Errorf("the node answers %s", answer.Status)
	}
	return answer, nil
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
			ctx.SetBodyStreamWriter(func(to *bufio.Writer) {
				if err := m.SendCopy(to); err != nil { // without its end, the other node knows that the copy is incomplete
					m.opt.Logger.Warn("another node did not get a complete copy of the data", "error", err)
				}
			})
		},
	}
}
