package link

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"pingpost/internal/durable"
)

// Position has the facts that a node must not forget: the last index of its Raft log, its term, and the term of its last
// vote. Term and Vote never fall. Index rises within a term, and may be lower
// in a later one.
type Position struct {
	Index uint64 `json:"index"`
	Term  uint64 `json:"term"`
	Vote  uint64 `json:"vote"` // term of the last vote
}

// hasForgotten reports whether a node with this position lacks a term or vote that it confirmed, or, in the same
// term, entries. In a later term the log may be shorter, because the leader of that term may have replaced entries
// that no majority had.
func (p Position) hasForgotten(confirmed Position) bool {
	return p.Term < confirmed.Term || p.Vote < confirmed.Vote || p.Term == confirmed.Term && p.Index < confirmed.Index
}

// confirmedPositions are the highest positions that other nodes confirmed to this one. It stores them from
// time to time, because they change with each entry. So after a crash it may remember lower ones.
type confirmedPositions struct {
	path    string
	mu      sync.Mutex
	nodes   map[string]Position
	changed bool
	saving  sync.Mutex // while the file is written
}

const (
	// ConfirmedFile is the name of the file in the data directory.
	ConfirmedFile = "confirmed.json"
	// saveEvery is the time between two stores of the positions.
	saveEvery = 5 * time.Second
)

func openConfirmedPositions(dir string) (*confirmedPositions, error) {
	c := &confirmedPositions{path: filepath.Join(dir, ConfirmedFile), nodes: map[string]Position{}}
	content, err := os.ReadFile(c.path)
	if err == nil {
		err = json.Unmarshal(content, &c.nodes)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot read the positions that other nodes confirmed: %w", err)
	}
	return c, nil
}

func (c *confirmedPositions) confirm(node string, p Position) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.nodes[node]
	after := Position{before.Index, max(p.Term, before.Term), max(p.Vote, before.Vote)}
	switch {
	case p.Term > before.Term:
		after.Index = p.Index
	case p.Term == before.Term:
		after.Index = max(p.Index, before.Index)
	}
	if after != before {
		c.nodes[node], c.changed = after, true
	}
}

func (c *confirmedPositions) names() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.nodes))
}

func (c *confirmedPositions) of(node string) Position {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nodes[node]
}

func (c *confirmedPositions) forget(nodes ...string) error {
	c.mu.Lock()
	for _, node := range nodes {
		delete(c.nodes, node)
	}
	c.changed = true
	c.mu.Unlock()
	return c.save()
}

// save stores the positions if they changed.
func (c *confirmedPositions) save() error {
	c.saving.Lock()
	defer c.saving.Unlock()
	c.mu.Lock()
	if !c.changed {
		c.mu.Unlock()
		return nil
	}
	content, err := json.Marshal(c.nodes)
	c.changed = false
	c.mu.Unlock()
	if err == nil {
		err = durable.WriteFile(c.path, strings.NewReader(string(content)))
	}
	if err != nil {
		c.mu.Lock()
		c.changed = true
		c.mu.Unlock()
		return fmt.Errorf("cannot store the positions that other nodes confirmed: %w", err)
	}
	return nil
}

// Confirm remembers that a node has stored the Raft entries up to index, a term, and a vote in a term: 0 for a
// value that is not confirmed. It is the cluster's Options.Confirmed.
func (r *Registry) Confirm(node string, index, term, vote uint64) {
	r.confirmed.confirm(node, Position{index, term, vote})
}

// saveLoop stores the confirmed positions until the network is closed, and then once more.
func (n *Network) saveLoop() {
	defer n.conns.Done()
	ticker := time.NewTicker(saveEvery)
	defer ticker.Stop()
	for ended := false; !ended; {
		select {
		case <-n.ended:
			ended = true
		case <-ticker.C:
		}
		if err := n.self.Registry.confirmed.save(); err != nil {
			n.logger.Warn("trying again", "error", err)
		}
	}
}
