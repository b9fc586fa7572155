package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"pingpost/cluster"
	"pingpost/engine/state"
	"pingpost/exchange/member"
	"pingpost/fuzz/powerloss/disk"
	"pingpost/wal"
)

// clusterLossPoint is a moment at which all nodes lose power, or one of them.
type clusterLossPoint struct {
	lossPoint
	only string // id of the one node that loses its power; "": all do
}

// drawClusterLossPoints draws the points. At every fourth, only one node loses its power.
func (r *clusterRecording) drawClusterLossPoints(count int, random *rand.Rand) []clusterLossPoint {
	drawn := make([]clusterLossPoint, 0, count)
	for i := range count {
		p := clusterLossPoint{lossPoint: lossPoint{lifetime: random.IntN(len(r.lifetimes)), seed: random.Uint64()}}
		p.tick = r.activeTicks[p.lifetime].drawTick(random, r.lifetimes[p.lifetime].lastTick)
		if i%4 == 3 {
			p.only = r.nodes[random.IntN(len(r.nodes))].id
		}
		drawn = append(drawn, p)
	}
	slices.SortStableFunc(drawn, func(a, b clusterLossPoint) int { return cmp.Compare(a.tick, b.tick) }) // the replay can then continue
	return drawn
}

// imageOf returns the content of a node's disk after the power loss.
func (r *clusterRecording) imageOf(p clusterLossPoint, n *node) *disk.Image {
	d := diskAt(r.nodeDisks[p.lifetime][n.id], p.tick)
	if p.only != "" && p.only != n.id {
		return d.IntactImage(p.tick)
	}
	return d.LosePower(p.tick, rand.New(rand.NewPCG(p.seed, uint64(n.id[0]))))
}

// write writes the folders of all nodes after the power loss.
func (r *clusterRecording) write(p clusterLossPoint, folder string, sum *lossStats) error {
	for _, n := range r.nodes {
		left := r.imageOf(p, n)
		if sum != nil {
			sum.add(left)
		}
		config, err := os.ReadFile(n.configFile())
		own := filepath.Join(folder, n.id)
		err = errors.Join(err, left.Write(dataDir(own)), os.MkdirAll(own, 0o700), os.WriteFile(filepath.Join(own, "exchange.json"), config, 0o600),
			os.WriteFile(filepath.Join(own, "list_0.txt"), suppressionListContent(0), 0o600))
		if err != nil {
			return err
		}
	}
	return nil
}

// keepFailure keeps the folders of the nodes as the disks had them.
func (r *clusterRecording) keepFailure(p clusterLossPoint, err error) error {
	f := &failure{lossPoint: p.lossPoint, err: err, folder: filepath.Join(r.folder, fmt.Sprintf("lost-%d-%d", p.tick, p.seed)), lost: "all nodes"}
	if p.only != "" {
		f.lost = "node " + p.only
	}
	return errors.Join(f, r.write(p, f.folder, nil))
}

// rebuildAndCheck writes the folders after a power loss, opens them with the program's own code, and checks
// that each majority of the nodes has all that was acknowledged.
func (r *clusterRecording) rebuildAndCheck(p clusterLossPoint, folder string, sum *lossStats) error {
	if err := errors.Join(os.RemoveAll(folder), r.write(p, folder, sum)); err != nil {
		return err
	}
	l := r.lifetimes[p.lifetime]
	var opened []*openedNode
	for _, n := range r.nodes {
		o, err := openNode(n.id, dataDir(filepath.Join(folder, n.id)), l.log)
		if err != nil {
			return r.keepFailure(p, fmt.Errorf("node %s: %w", n.id, err))
		}
		opened = append(opened, o)
		if torn, _ := filepath.Glob(filepath.Join(folder, n.id, "data", "damage", "*.torn")); len(torn) > 0 {
			sum.tornLogs++
		}
		if o.isShortened {
			sum.shortened++
		}
	}
	if p.tick < r.memberTick {
		return nil // a majority has fewer nodes
	}
	if err := checkMajorities(opened, l.log, l.promisesAt(p.tick).seq); err != nil {
		return r.keepFailure(p, err)
	}
	return nil
}

// checkMajorities checks that in each majority of the nodes, any node that can be elected has all promised
// entries. In Raft that is a node whose log is not older than that of the others.
func checkMajorities(nodes []*openedNode, written *writtenLog, promised uint64) error {
	for i, one := range nodes {
		for _, other := range nodes[i+1:] {
			for _, pair := range [][2]*openedNode{{one, other}, {other, one}} {
				if pair[0].isOlderThan(pair[1]) {
					continue
				}
				if err := pair[0].checkPromised(written, promised); err != nil {
					return fmt.Errorf("node %s can be elected by node %s: %w", pair[0].id, pair[1].id, err)
				}
			}
		}
	}
	return nil
}

// openedNode has the logs of a node after a power loss.
type openedNode struct {
	id      string
	at      cluster.RaftPosition
	entries []wal.Entry // of the exchange's log, and of the Raft log after it
	// isShortened reports that the first segment of the Raft log was deleted.
	isShortened bool
}

func (o *openedNode) isOlderThan(other *openedNode) bool {
	return o.at.Term < other.at.Term || o.at.Term == other.at.Term && o.at.Index < other.at.Index
}

// checkPromised checks that the node has the written entries up to a promised one.
func (o *openedNode) checkPromised(written *writtenLog, promised uint64) error {
	if last := uint64(len(o.entries)); last < promised {
		return fmt.Errorf("its logs end with entry %d, but an output relied on entry %d", last, promised)
	}
	for i, e := range o.entries[:promised] {
		if is := written.entries[i]; e.At != is.At || !bytes.Equal(e.Data, is.Data) {
			return fmt.Errorf("its entry %d differs from the one that an output relied on", i+1)
		}
	}
	return nil
}

// openNode opens both logs of a node, as its start does, and checks the content of its folder. A node without
// a complete copy of another node's data has no entries.
func openNode(id, dir string, written *writtenLog) (n *openedNode, err error) {
	n = &openedNode{id: id}
	if needsCopy, err := member.NeedsCopy(dir); needsCopy || err != nil {
		return n, err
	}
	reach, err := member.CompactedEntry(dir)
	if err != nil {
		return nil, err
	}
	var replica *wal.Replica
	o, err := openDirWith(dir, wal.Options{MustReach: reach}, func(dir string, opt wal.Options) (*wal.Log, error) {
		if replica, err = wal.OpenReplica(dir, opt); err != nil {
			return nil, err
		}
		return replica.Log, nil
	})
	if err != nil {
		return nil, fmt.Errorf("the exchange's log does not open: %w", err)
	}
	defer func() { err = errors.Join(err, replica.Close()) }()
	if err := o.checkLog(written, 0); err != nil {
		return nil, err
	}
	n.entries = o.entries
	if isMember, err := member.IsClusterData(dir); !isMember || err != nil {
		return n, errors.Join(err, o.checkFiles(written, promises{}))
	}
	first, _ := filepath.Glob(filepath.Join(dir, "cluster", "log", "00000000000000000001-*.wal"))
	n.isShortened = len(first) == 0
	if n.at, err = member.ReadRaftPosition(dir); err != nil {
		return nil, err
	}
	machine := &replayMachine{o.state, o.state.NewLogReplay()}
	if err := member.ApplyRaftLog(dir, replica, machine, slog.New(slog.DiscardHandler)); err != nil {
		return nil, fmt.Errorf("the Raft log does not continue the exchange's log: %w", err)
	}
	// A suppression list that a later entry replaced is deleted before the exchange's log has that entry on disk.
	if err := o.checkFiles(written, promises{}); err != nil {
		return nil, err
	}
	reader, err := replica.NewReader(uint64(len(o.entries)) + 1)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	added, err := readAllEntries(reader, func(wal.Entry) error { return nil })
	n.entries = append(n.entries, added...)
	return n, err
}

// replayMachine applies the entries of a Raft log to a state.
type replayMachine struct {
	*state.State
	replay *state.LogReplay
}

// Apply applies an entry.
func (m *replayMachine) Apply(seq uint64, at int64, data []byte) error {
	return applyEntry(m.replay, wal.Entry{Seq: seq, At: at, Data: data})
}

// recordAndCheckCluster makes one recording of a cluster and checks it.
func (s *session) recordAndCheckCluster(ctx context.Context, program string, seed uint64) error {
	folder := filepath.Join(s.dir, fmt.Sprintf("recording-%d", seed))
	r, err := makeClusterRecording(ctx, program, folder, s.drawEndings(seed), seed, !s.Mutants, s.logf)
	defer r.close()
	if err != nil {
		return err
	}
	s.count(r.recording)
	for i, p := range r.drawClusterLossPoints(s.Points, rand.New(rand.NewPCG(seed, 1))) {
		if ctx.Err() != nil {
			return nil
		}
		if err := r.rebuildAndCheck(p, s.memory, &s.stats); err != nil {
			return err
		}
		if i%s.Serve != s.Serve-1 || p.tick < r.memberTick {
			continue
		}
		if err := r.checkServing(ctx, p, s.memory, &s.stats); err != nil {
			return err
		}
	}
	return os.RemoveAll(folder)
}
