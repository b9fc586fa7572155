package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// checkServing starts all nodes on the folders after a power loss. They must elect a leader without an
// operator, repeat earlier answers, and accept new leads. Then all nodes must have the same log and state.
func (r *clusterRecording) checkServing(ctx context.Context, p clusterLossPoint, folder string, sum *lossStats) (err error) {
	sum.served++
	if err := errors.Join(os.RemoveAll(folder), r.write(p, folder, nil)); err != nil {
		return err
	}
	var nodes []*node
	for _, n := range r.nodes {
		nodes = append(nodes, &node{id: n.id, folder: filepath.Join(folder, n.id)})
	}
	newRequestIDs, err := r.serve(ctx, p, nodes)
	for _, n := range nodes {
		if n.process != nil {
			err = errors.Join(err, n.stop(syscall.SIGTERM))
		}
	}
	if err != nil {
		return r.keepFailure(p, err)
	}
	l := r.lifetimes[p.lifetime]
	var first *openedDir
	for _, n := range nodes {
		dir := dataDir(n.folder)
		o, err := checkStoppedNode(dir, l.log, l.promisesAt(p.tick).erasures)
		if err == nil {
			err = r.checkLogAfterServing(l, p.tick, dir, newRequestIDs)
		}
		if err == nil && first != nil {
			err = compareStoppedNodes(o, first)
		}
		if err != nil {
			return r.keepFailure(p, fmt.Errorf("node %s: %w", n.id, err))
		}
		first = o
	}
	return nil
}

// serve starts the nodes, repeats earlier requests and sends new leads. It waits until all nodes have the
// entries of the leader.
func (r *clusterRecording) serve(ctx context.Context, p clusterLossPoint, nodes []*node) (newRequestIDs []string, err error) {
	for _, n := range nodes {
		if n.process, err = startProcess(ctx, r.program, n.folder, ""); err != nil {
			return nil, err
		}
	}
	for _, n := range nodes {
		if err := n.process.awaitServing(); err != nil {
			return nil, fmt.Errorf("node %s: %w", n.id, err)
		}
	}
	leader, err := awaitLeader(ctx, nodes)
	if err != nil {
		return nil, err
	}
	if err := r.checkCreatedObjects(ctx, leader.process, p.lifetime, p.tick); err != nil {
		return nil, err
	}
	if newRequestIDs, err = r.checkAnswers(ctx, p.lossPoint, p.tick, leader.process.public); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		equal, err := haveEqualEntries(ctx, nodes)
		if err != nil || equal {
			return newRequestIDs, err
		}
		if time.Now().After(deadline) {
			return nil, errors.New("a node does not get the entries of the leader")
		}
	}
}

// haveEqualEntries reports whether all nodes have applied the same number of entries.
func haveEqualEntries(ctx context.Context, nodes []*node) (bool, error) {
	entries := map[uint64]bool{}
	for _, n := range nodes {
		text, err := n.process.adminCall(ctx, "GET", "/admin/v1/cluster", "")
		if err != nil {
			return false, fmt.Errorf("node %s: %w\n%s", n.id, err, n.process.LastLines())
		}
		var status struct{ Entry uint64 }
		if err := json.Unmarshal(text, &status); err != nil {
			return false, err
		}
		entries[status.Entry] = true
	}
	return len(entries) == 1, nil
}

// checkStoppedNode opens the folder of a stopped node, and checks that the keys of erased leads are gone.
func checkStoppedNode(dir string, written *writtenLog, erasures int) (*openedDir, error) {
	o, err := openDir(dir)
	if err != nil {
		return nil, err
	}
	return o, errors.Join(o.checkLeadKeys(written, erasures), o.log.Close())
}

// compareStoppedNodes compares the logs and the states of two nodes. Their processes stopped one after
// another, so one may have some further entries.
func compareStoppedNodes(a, b *openedDir) error {
	common := min(len(a.entries), len(b.entries))
	if err := compareEntries(a.entries[:common], b.entries[:common]); err != nil {
		return err
	}
	seqA, hashA := a.state.Hash()
	seqB, hashB := b.state.Hash()
	if seqA == seqB && hashA != hashB {
		return fmt.Errorf("its state at entry %d has the hash %016x, that of another node %016x", seqA, hashA, hashB)
	}
	return nil
}
