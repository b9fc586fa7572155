package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// clusterRecording is a cluster of three nodes over several lifetimes. A lifetime begins with the start of
// all nodes and ends with the end of all. In between, single nodes are killed or lose their power.
//
// Each node has a record and a disk of its own. The ticks of all are nanoseconds since the same start.
type clusterRecording struct {
	*recording
	start       time.Time
	nodes       []*node
	losesPower  bool // nodes may lose their power during the recording
	memberTick  int  // from this tick on, all three nodes are members
	nodeDisks   []map[string][]startedDisk
	activeTicks []activeTicks // by lifetime
}

func (r *clusterRecording) now() int { return int(time.Since(r.start)) }

// makeClusterRecording records lifetimes with the given endings. The caller closes the recording, also after
// an error.
func makeClusterRecording(ctx context.Context, program, folder string, endings []ending, seed uint64, losesPower bool, logf func(string, ...any)) (*clusterRecording, error) {
	base, err := startRecording(ctx, program, folder, seed, logf)
	r := &clusterRecording{recording: base, start: time.Now(), nodes: newNodes(folder), losesPower: losesPower}
	if err != nil {
		return r, err
	}
	first := r.nodes[0]
	if err := writeNodeConfigs(r.nodes, configDocument(r.buyerURLs, r.webhookURL, 0)); err != nil {
		return r, err
	}
	if err := r.runProgram(ctx, "cluster", "init", "-c", first.configFile()); err != nil {
		return r, err
	}
	key, err := os.ReadFile(first.exchangeKeyFile())
	for _, n := range r.nodes[1:] {
		err = errors.Join(err, os.MkdirAll(filepath.Dir(n.exchangeKeyFile()), 0o700), os.WriteFile(n.exchangeKeyFile(), key, 0o600))
	}
	if err != nil {
		return r, err
	}
	for number, end := range endings {
		if err := r.recordLifetime(number, end); err != nil {
			return r, fmt.Errorf("life %d: %w", number+1, err)
		}
	}
	if err := r.endClients(); err != nil {
		err = r.violation(err)
		return r, err
	}
	return r, nil
}

// violation returns a failure that needs no power loss.
func (r *clusterRecording) violation(err error) error {
	return &failure{err: err, lost: "no power loss", folder: filepath.Join(r.folder, "a")}
}

// close ends all processes.
func (r *clusterRecording) close() {
	r.recording.close()
	for _, n := range r.nodes {
		if n.process != nil {
			_ = n.process.stop(syscall.SIGKILL)
		}
	}
}

// recordLifetime records one lifetime.
func (r *clusterRecording) recordLifetime(number int, end ending) error {
	l := &lifetime{firstTick: r.now(), ending: end, promisesBefore: r.promises}
	for _, n := range r.nodes {
		n.disks = nil
		if err := n.load(l.firstTick); err != nil {
			return err
		}
	}
	start := r.startNodes
	if number == 0 {
		start = r.createCluster
	}
	if err := start(); err != nil {
		return err
	}
	for round := range 1 + r.random.IntN(2) + 1 {
		r.publish()
		if err := r.generateLoad(l); err != nil {
			return err
		}
		if round > 0 {
			if err := r.disturbNode(l); err != nil {
				return err
			}
		}
	}
	r.locator.Withdraw()
	if err := r.endAll(l); err != nil {
		return err
	}
	return r.finishLifetime(l)
}

// createCluster starts the first node. The others copy its data and become members.
func (r *clusterRecording) createCluster() error {
	for i, n := range r.nodes {
		if err := n.start(r.ctx, r.program); err != nil {
			return err
		}
		if i == 0 {
			continue
		}
		err := r.operate(func(p *process) error {
			_, err := p.adminCall(r.ctx, "POST", "/admin/v1/cluster/nodes/"+n.id, "", "If-None-Match", "*") // a repeat finds the member
			return err
		})
		if err != nil {
			return err
		}
	}
	leader, err := awaitLeader(r.ctx, r.nodes)
	if err != nil {
		return err
	}
	r.memberTick = r.now()
	return r.startClients(r.ctx, leader.process.public)
}

// startNodes starts all nodes at once, because Raft's log keeps entries for a node that is down only for a
// short time.
func (r *clusterRecording) startNodes() (err error) {
	for _, n := range r.nodes {
		if err := n.launch(r.ctx, r.program); err != nil {
			return err
		}
	}
	for _, n := range r.nodes {
		if err := n.process.awaitServing(); err != nil {
			return fmt.Errorf("node %s: %w", n.id, err)
		}
	}
	_, err = awaitLeader(r.ctx, r.nodes)
	return err
}

// running returns a random node that runs.
func (r *clusterRecording) running() *node {
	nodes := slices.DeleteFunc(slices.Clone(r.nodes), func(n *node) bool { return n.process == nil })
	return nodes[r.random.IntN(len(nodes))]
}

// publish sends the clients to a random node that runs.
func (r *clusterRecording) publish() { r.locator.Publish(r.running().process.public) }

// operate lets an operator act at the leader, and again after an error: the leader may change.
func (r *clusterRecording) operate(act func(*process) error) error {
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		leader, err := awaitLeader(r.ctx, r.nodes)
		if err == nil {
			err = act(leader.process)
		}
		if err == nil || r.ctx.Err() != nil {
			return err
		}
		if time.Now().After(deadline) {
			return withLastLines(r.nodes, err)
		}
	}
}

// generateLoad runs requests for a while, with an erasure and new objects.
func (r *clusterRecording) generateLoad(l *lifetime) error {
	time.Sleep(time.Duration(400+r.random.IntN(500)) * time.Millisecond)
	if err := r.operate(func(p *process) error { return r.createObjects(r.ctx, p) }); err != nil {
		return err
	}
	before := len(r.erased)
	if err := r.operate(r.eraseLead); err != nil {
		return err
	}
	if len(r.erased) == before+1 { // later, an entry of an attempt without an answer could be mistaken for it
		l.acks = append(l.acks, ack{tick: r.now(), isErasure: true, revision: -1})
	}
	return nil
}

// disturbNode kills the leader or another node, which may lose its power. The others go on until it starts
// again.
func (r *clusterRecording) disturbNode(l *lifetime) error {
	n := r.nodes[r.random.IntN(len(r.nodes))]
	if r.random.IntN(2) == 0 {
		leader, err := awaitLeader(r.ctx, r.nodes)
		if err != nil {
			return err
		}
		n = leader
	}
	r.locator.Withdraw()
	if err := errors.Join(n.stop(syscall.SIGKILL), r.readRecord(l, n)); err != nil {
		return err
	}
	r.publish()
	if r.losesPower && r.random.IntN(2) == 0 {
		if err := r.losePower(n, r.now(), r.random.Uint64()); err != nil {
			return err
		}
	}
	time.Sleep(time.Duration(r.random.IntN(300)) * time.Millisecond)
	if err := n.start(r.ctx, r.program); err != nil {
		return err
	}
	_, err := awaitLeader(r.ctx, r.nodes) // it has appended the acknowledged entries that only Raft's log had
	return err
}

// losePower replaces a node's folder by the content after a power loss at a tick.
func (r *clusterRecording) losePower(n *node, tick int, seed uint64) error {
	left := diskAt(n.disks, tick).LosePower(tick, rand.New(rand.NewPCG(seed, 0)))
	if err := errors.Join(os.RemoveAll(dataDir(n.folder)), left.Write(dataDir(n.folder))); err != nil {
		return err
	}
	r.logf("node %s after its power loss: %s", n.id, left)
	return n.load(r.now())
}

// readRecord adds the record of an ended node to the lifetime.
func (r *clusterRecording) readRecord(l *lifetime, n *node) error {
	acks, calls, lastTick, err := n.readRecord(r.start)
	for i := range acks {
		if !acks[i].isErasure { // the operator counts erasures: the leader and a follower both answer each
			l.acks = append(l.acks, acks[i])
		}
	}
	l.calls += calls
	l.lastTick = max(l.lastTick, lastTick)
	return err
}

// endAll ends all nodes at the same time.
func (r *clusterRecording) endAll(l *lifetime) error {
	signal := syscall.SIGKILL
	if l.ending == stoppedInOrder {
		signal = syscall.SIGTERM
	}
	results := make(chan error, len(r.nodes))
	for _, n := range r.nodes {
		go func() { results <- n.stop(signal) }()
	}
	var err error
	for range r.nodes {
		err = errors.Join(err, <-results)
	}
	if err != nil {
		return err
	}
	for _, n := range r.nodes {
		if err := r.readRecord(l, n); err != nil {
			return err
		}
	}
	return nil
}

// finishLifetime reads the logs of the ended nodes. If they lost power, it rebuilds their folders.
func (r *clusterRecording) finishLifetime(l *lifetime) (err error) {
	if l.log, err = r.readLongestLog(); err != nil {
		return err
	}
	slices.SortStableFunc(l.acks, func(a, b ack) int { return cmp.Compare(a.tick, b.tick) })
	if err := l.checkWithoutLoss(); err != nil {
		return r.violation(err)
	}
	disks, ticks := map[string][]startedDisk{}, activeTicks{}
	for _, n := range r.nodes {
		disks[n.id] = n.disks
		for _, d := range n.disks {
			all, rare := d.ActiveTicks(l.firstTick)
			ticks.all, ticks.rare = append(ticks.all, all...), append(ticks.rare, rare...)
		}
	}
	isLate := func(tick int) bool { return tick > l.lastTick }
	ticks.all, ticks.rare = slices.DeleteFunc(ticks.all, isLate), slices.DeleteFunc(ticks.rare, isLate)
	r.nodeDisks, r.activeTicks = append(r.nodeDisks, disks), append(r.activeTicks, ticks)
	if l.ending == lostPower {
		slices.Sort(ticks.all)
		last := ticks.all[len(ticks.all)-min(len(ticks.all), 200):]
		l.lastTick = last[r.random.IntN(len(last))]
		r.clients.answers.forgetAnswersAfter(l.acks, l.lastTick)
	}
	r.promises = l.promisesAt(l.lastTick)
	r.lifetimes = append(r.lifetimes, l)
	r.logf("life %d %s: %d calls, %d entries, %d acks", len(r.lifetimes), l.ending, l.calls, len(l.log.entries), len(l.acks))
	if l.ending != lostPower {
		return nil
	}
	for _, n := range r.nodes {
		if err := r.losePower(n, l.lastTick, r.random.Uint64()); err != nil {
			return err
		}
	}
	return nil
}

// readLongestLog reads the log of the node with the most entries. A log has only committed entries, so the
// others begin it. A key that is erased may still exist in this node's folder, but counts as erased.
func (r *clusterRecording) readLongestLog() (longest *writtenLog, err error) {
	for _, n := range r.nodes {
		log, err := readWrittenLog(dataDir(n.folder))
		if err != nil {
			return nil, fmt.Errorf("node %s: %w", n.id, err)
		}
		if longest == nil || len(log.entries) > len(longest.entries) {
			longest = log
		}
	}
	for _, e := range longest.index.erased {
		for _, slot := range e.slots {
			copy(longest.keys.keyOf(slot), zeroKey)
		}
	}
	return longest, nil
}
