package member

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/cluster/datacopy"
	"pingpost/cluster/link"
	"pingpost/server/forward"
)

// NeedsCopy reports whether the data directory has no data, or an incomplete copy, so that a node must copy
// the data of another one before it starts.
func NeedsCopy(dataDir string) (bool, error) {
	if unfinished, err := datacopy.IsUnfinished(dataDir); unfinished || err != nil {
		return unfinished, err
	}
	segments, err := os.ReadDir(filepath.Join(dataDir, "log"))
	if errors.Is(err, os.ErrNotExist) {
		return true, nil
	}
	if err == nil && len(segments) == 0 {
		return true, os.Remove(filepath.Join(dataDir, "log"))
	}
	return false, err
}

// copyTimeout is the most time until another node begins to send its data.
const copyTimeout = 5 * time.Second

// CopyData copies the data of another node to this one, which has none. It asks the peers in turn.
func CopyData(s *Settings) error {
	network, _, err := openNetwork(s, [16]byte{}, func(string) bool { return false })
	if err != nil {
		return err
	}
	ask := Ask(forward.New(forward.Options{Logger: s.Logger, Dial: func(id, address string, timeout time.Duration) (net.Conn, error) {
		return network.Dial(link.Requests, id, address, timeout)
	}}).Ask)
	var failures error
	for _, id := range s.sortLeaderFirst(ask) {
		s.Logger.Info("copying the data of another node", "node", id, "address", s.Peers[id])
		if err = copyFrom(ask, id, s); err == nil {
			s.Logger.Info("copied the data of another node", "node", id)
			return network.Close()
		}
		failures = errors.Join(failures, fmt.Errorf("node %q: %w", id, err))
	}
	if failures == nil {
		failures = errors.New("cluster.peers has no other node")
	}
	return errors.Join(fmt.Errorf("this node has no data, and no other node gave it a copy; start the first node with its data, or create it with pingpost cluster init: %w", failures), network.Close())
}

// sortLeaderFirst returns the other nodes. The leader is the first: it keeps its Raft log for its copies.
func (s *Settings) sortLeaderFirst(ask Ask) (ids []string) {
	for _, id := range slices.Sorted(maps.Keys(s.Peers)) {
		if id == s.Node {
			continue
		}
		if status, err := ask.status(id, s.Peers[id]); err == nil && status.Role == RoleLeader {
			ids = slices.Insert(ids, 0, id)
		} else {
			ids = append(ids, id)
		}
	}
	return ids
}

func copyFrom(ask Ask, id string, s *Settings) error {
	code, body, err := ask(id, s.Peers[id], pathCopy, copyTimeout)
	if err != nil {
		return err
	}
	defer body.Close()
	if code != fasthttp.StatusOK {
		return fmt.Errorf("it answers with status %d to the request for a copy", code)
	}
	return datacopy.Receive(body, s.DataDir)
}

// copyBytesPerSecond limits the speed of a copy, so that it leaves disk and network to the leads.
const copyBytesPerSecond = 100 << 20

// copyReportPause is the time between two log lines about the progress of a copy.
const copyReportPause = 5 * time.Second

const (
	// copyIdleTime is the longest time in which the other node may accept no data.
	copyIdleTime = time.Minute
	// keepLogAfterCopy is the time in which a new node should become a member after its copy.
	keepLogAfterCopy = 30 * time.Minute
)

// errNodeCopies is the reason for keeping the Raft log.
var errNodeCopies = errors.New("a new node copies the data of this node, and needs the later entries of the Raft log")

// mayCompact returns an error while a new node may still need the Raft log. A node that is no member yet gets
// no entries, and joins only if its copy reaches the last Raft snapshot of the leader.
func (m *Member) mayCompact(uint64) error {
	if m.copies.Load() > 0 || time.Now().UnixNano() < m.keepLogUntil.Load() {
		return errNodeCopies
	}
	return nil
}

// renewingStream extends the write deadline of its connection before each piece of an answer that is sent.
type renewingStream struct {
	io.ReadCloser
	conn net.Conn
}

// Read returns the next piece.
func (s *renewingStream) Read(p []byte) (int, error) {
	if err := s.conn.SetWriteDeadline(time.Now().Add(copyIdleTime)); err != nil {
		return 0, err
	}
	return s.ReadCloser.Read(p)
}

// SendCopy writes a copy of this node's data for another node.
func (m *Member) SendCopy(to io.Writer) error {
	m.copies.Add(1)
	defer func() {
		m.keepLogUntil.Store(time.Now().Add(keepLogAfterCopy).UnixNano())
		m.copies.Add(-1)
	}()
	reported := time.Now()
	return datacopy.Send(to, m.opt.DataDir, m.opt.Log, copyBytesPerSecond, func(sent int64) {
		if time.Since(reported) > copyReportPause {
			reported = time.Now()
			m.opt.Logger.Info("another node copies the data of this node", "megabytes", sent>>20)
		}
	})
}
