package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	raftwal "github.com/hashicorp/raft-wal"
)

// ReadPosition returns the last index of a node's Raft log, its present term, which can be higher
// than that of the last entry, and the term of its last vote, for link.Identity. The node must not run. dir is its Options.Dir.
func ReadPosition(dir string) (index, term, vote uint64, err error) {
	logDir := filepath.Join(dir, "log")
	if _, err := os.Stat(logDir); errors.Is(err, fs.ErrNotExist) {
		return 0, 0, 0, nil
	}
	logger := hclog.NewNullLogger()
	store, err := raftwal.Open(logDir, raftwal.WithLogger(logger))
	if err != nil {
		return 0, 0, 0, fmt.Errorf("cannot open the Raft log in %q: %w", logDir, err)
	}
	var errs [4]error
	index, errs[0] = store.LastIndex()
	term, errs[1] = store.GetUint64([]byte(termKey))
	vote, errs[2] = store.GetUint64([]byte("LastVoteTerm"))
	errs[3] = store.Close()
	if err := errors.Join(errs[:]...); err != nil {
		return 0, 0, 0, fmt.Errorf("cannot read the Raft log in %q: %w", logDir, err)
	}
	snapshots, err := raft.NewFileSnapshotStoreWithLogger(dir, keptSnapshots, logger)
	if err != nil {
		return 0, 0, 0, fmt.Errorf("cannot open the Raft snapshots in %q: %w", dir, err)
	}
	list, err := snapshots.List()
	if err == nil && len(list) > 0 {
		index = max(index, list[0].Index)
	}
	return index, term, vote, err
}

// MayOpenRaft reports whether a node may open Raft connections to this one: see link.Network.AllowRaftFrom. While
// this node knows no leader, its list of members may be old, and the leader may be a new member.
func (n *Node) MayOpenRaft(id string) bool {
	members := n.raft.GetConfiguration().Configuration().Servers
	if len(members) == 0 || n.Leader().ID == "" {
		return true
	}
	for _, m := range members {
		if m.ID == raft.ServerID(id) {
			return true
		}
	}
	return false
}

// storedIndexes remembers up to which index each other node has this leader's Raft log.
type storedIndexes struct {
	mu   sync.Mutex
	term uint64
	last map[raft.ServerID]uint64 // index
}

func (s *storedIndexes) record(node raft.ServerID, term, last uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if term > s.term {
		s.term, s.last = term, map[raft.ServerID]uint64{}
	}
	if term == s.term {
		s.last[node] = max(s.last[node], last)
	}
}

func (s *storedIndexes) lastOf(node raft.ServerID, term uint64) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if term != s.term {
		return 0
	}
	return s.last[node]
}

// confirmEntries remembers that a node accepted a message of this leader, and reports it. Only committed entries
// are reported, because the next leader may replace others.
func (n *Node) confirmEntries(node raft.ServerID, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) {
	if !resp.Success {
		return
	}
	stored := args.PrevLogEntry + uint64(len(args.Entries))
	n.stored.record(node, args.Term, stored)
	if n.opt.Confirmed != nil {
		n.opt.Confirmed(string(node), min(stored, args.LeaderCommitIndex), args.Term, 0)
	}
}

// AppendEntriesPipeline opens a pipeline of messages to another node.
func (t *nodeTransport) AppendEntriesPipeline(id raft.ServerID, target raft.ServerAddress) (raft.AppendPipeline, error) {
	inner, err := t.NetworkTransport.AppendEntriesPipeline(id, target)
	if err != nil {
		return nil, err
	}
	p := &confirmingPipeline{AppendPipeline: inner, node: t.node, id: id, answers: make(chan raft.AppendFuture), ended: make(chan struct{})}
	go p.passAnswers()
	return p, nil
}

// confirmingPipeline is a pipeline that calls confirmEntries for its answers.
type confirmingPipeline struct {
	raft.AppendPipeline
	node    *Node
	id      raft.ServerID
	answers chan raft.AppendFuture
	ended   chan struct{}
	end     sync.Once
}

// Consumer returns the answers.
func (p *confirmingPipeline) Consumer() <-chan raft.AppendFuture { return p.answers }

// Close ends the pipeline.
func (p *confirmingPipeline) Close() error {
	p.end.Do(func() { close(p.ended) })
	return p.AppendPipeline.Close()
}

func (p *confirmingPipeline) passAnswers() {
	for {
		select {
		case answer := <-p.AppendPipeline.Consumer():
			p.node.confirmEntries(p.id, answer.Request(), answer.Response())
			select {
			case p.answers <- answer:
			case <-p.ended:
				return
			}
		case <-p.ended:
			return
		}
	}
}
