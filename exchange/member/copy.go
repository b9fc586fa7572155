package member

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"pingpost/cluster/datacopy"
	"pingpost/cluster/link"
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

const (
	copyDialTimeout = 2 * time.Second
	// copyIdleTimeout is the longest time in which the other node may send no byte.
	copyIdleTimeout = 30 * time.Second
)

// CopyData copies the data of another node to this one, which has none. It asks the peers in turn.
func CopyData(s *Settings) error {
	network, _, err := openNetwork(s, [16]byte{}, func(string) bool { return false })
	if err != nil {
		return err
	}
	var failures error
	for _, id := range slices.Sorted(maps.Keys(s.Peers)) {
		if id == s.Node {
			continue
		}
		s.Logger.Info("copying the data of another node", "node", id, "address", s.Peers[id])
		if err = copyFrom(network, id, s); err == nil {
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

func copyFrom(network *link.Network, id string, s *Settings) error {
	conn, err := network.Dial(link.Requests, id, s.Peers[id], copyDialTimeout)
	if err != nil {
		return err
	}
	defer conn.Close()
	reader := bufio.NewReader(&idleLimitedConn{conn})
	answer, err := get(reader, conn, pathCopy)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	return datacopy.Receive(answer.Body, s.DataDir)
}

// idleLimitedConn fails a read that gets no byte for copyIdleTimeout.
type idleLimitedConn struct{ net.Conn }

func (c *idleLimitedConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(copyIdleTimeout)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
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
