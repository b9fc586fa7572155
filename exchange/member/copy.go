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
	return len(segments) == 0, err
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
	for _, id := range slices.Sorted(maps.Keys(s.Peers)) {
		if id == s.Node {
			continue
		}
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

// SendCopy writes a copy of this node's data for another node.
func (m *Member) SendCopy(to io.Writer) error {
	reported := time.Now()
	return datacopy.Send(to, m.opt.DataDir, m.opt.Log, copyBytesPerSecond, func(sent int64) {
		if time.Since(reported) > copyReportPause {
			reported = time.Now()
			m.opt.Logger.Info("another node copies the data of this node", "megabytes", sent>>20)
		}
	})
}
