package exchange

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"pingpost/cluster"
	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/exchange/member"
	"pingpost/internal/durable"
	"pingpost/keys/vault"
	"pingpost/server/admin"
	"pingpost/server/forward"
)

// clusterMembership is this node's part in a cluster. Every node has the same log and the same state. Only
// the leader decides about requests; its engine lasts as long as its leadership. The other nodes forward
// requests to it.
type clusterMembership struct {
	member         atomic.Pointer[member.Member] // nil in a single node, and until joinCluster
	forwarder      *forward.Forwarder            // nil in a single node
	joined         chan struct{}                 // closed once member is set
	reader         atomic.Pointer[engine.Engine] // reads the state of this node for answers that may be old
	queue          atomic.Pointer[cluster.Log]   // of this node's last leadership
	lastLeadership sync.WaitGroup                // until its end, and until the work has ended that the next one repeats
	oldEngines     sync.WaitGroup                // engines of earlier leaderships that wait for attempts in progress
	leaderships    atomic.Uint64                 // of this node since its start
}

func (x *Exchange) isClustered() bool { return x.settings.Cluster.IsSet() }

// memberSettings returns the settings of this node's membership.
func (x *Exchange) memberSettings(key *vault.Vault) (member.Settings, error) {
	of := &x.settings.Cluster
	s := member.Settings{
		Node: of.Node, Listen: of.Listen, Peers: of.Peers, DataDir: x.settings.DataDir, LinkKey: key.DeriveKey("cluster link"),
		Version: x.options.Version, Logger: x.logger, HeartbeatTimeout: x.options.clusterHeartbeatTimeout,
	}
	var err error
	if of.TLS.IsSet() {
		s.TLS, err = member.LoadTLS(of.TLS.CertFile, of.TLS.KeyFile, of.TLS.AuthorityFile)
	}
	return s, err
}

// prepareClusterData copies the data of another node to a new one. It returns an error for a single node
// with the data of a cluster: its log would get entries that the other nodes do not have.
func (x *Exchange) prepareClusterData() error {
	dir := x.settings.DataDir
	if !x.isClustered() {
		if clustered, err := member.IsClusterData(dir); clustered || err != nil {
			return errors.Join(fmt.Errorf("data_dir %q has the data of a cluster's node; set cluster in the configuration, or make it a single exchange with pingpost cluster recover", dir), err)
		}
		return nil
	}
	if needed, err := member.NeedsCopy(dir); !needed || err != nil {
		return err
	}
	key, err := vault.OpenExchangeKey(dir, false)
	if err != nil {
		return fmt.Errorf("this node needs the exchange's key before it can copy the data of another node; copy the file keys/exchange.key from the data directory of that node: %w", err)
	}
	s, err := x.memberSettings(key)
	if err != nil {
		return err
	}
	return member.CopyData(&s)
}

// joinCluster starts this node's membership, and serves the requests of other nodes.
func (x *Exchange) joinCluster() error {
	s, err := x.memberSettings(x.vault)
	if err != nil {
		return err
	}
	founded := x.state.FoundedEvent()
	if founded.KeyCheck != x.vault.KeyFingerprint() {
		return errors.New("the exchange's key file does not belong to this log; copy keys/exchange.key from another node")
	}
	opt := member.Options{
		Settings: s, Exchange: founded.Epoch, Log: x.replica, StateMachine: &replicatedState{exchange: x}, Roles: clusterRoles{x}, Now: x.clock.Now,
	}
	opt.QueueLen, opt.QueueBytes = maxLogQueueEntriesAndBytes(&x.settings.Limits)
	m, err := member.Open(opt)
	if err != nil {
		return err
	}
	m.SetAsk(x.cluster.forwarder.Ask)
	x.cluster.member.Store(m)
	close(x.cluster.joined)
	x.addClusterGauges(m, &s)
	go x.watchMembership(m)
	m.WatchOthers()
	x.serveInBackground("cluster", m.RequestListener(), func(listener net.Listener) error {
		return x.cluster.forwarder.Serve(listener, forward.Handlers{
			Public: x.publicServer.DecideRequest, Admin: x.adminServer.DecideRequest, Node: m.RequestHandlers(), MaxHeader: x.settings.Limits.Header,
		})
	})
	if len(m.Members()) == 0 {
		x.logger.Info("this node is no member of the cluster yet; add it with pingpost cluster add "+s.Node+", or begin a cluster with pingpost cluster init", "node", s.Node)
	}
	return nil
}

func (x *Exchange) addClusterGauges(m *member.Member, s *member.Settings) {
	gauge := func(name string, read func() int) {
		x.meter.AddGauge(name, func() float64 { return float64(read()) })
	}
	gauge(`pingpost_cluster_leader`, func() int {
		if x.mayDecide() {
			return 1
		}
		return 0
	})
	if s.TLS != nil {
		notAfter := float64(s.TLS.Certificates[0].Leaf.NotAfter.Unix())
		x.meter.AddGauge(`pingpost_tls_not_after_timestamp_seconds{address="cluster"}`, func() float64 { return notAfter })
	}
	x.meter.AddGauge(`pingpost_cluster_term`, func() float64 { return float64(m.Term()) })
	gauge(`pingpost_cluster_members`, func() int { return len(m.Members()) })
	gauge(`pingpost_cluster_reachable_members`, m.CountReachableMembers)
	gauge(`pingpost_cluster_lag_entries`, m.LagEntries)
	gauge(`pingpost_cluster_leaderships_total`, func() int { return int(x.cluster.leaderships.Load()) })
}

// watchMembership ends the exchange if its node can take no further part in the cluster. If this node leads
// and its disk is almost full, it makes another node the leader.
func (x *Exchange) watchMembership(m *member.Member) {
	ticker := time.NewTicker(diskHandOverPause)
	defer ticker.Stop()
	for {
		select {
		case <-m.Failed():
			x.broken <- fmt.Errorf("this node of the cluster failed: %w", m.Err())
			return
		case err := <-m.MustStop():
			x.broken <- err
			return
		case <-x.ended:
			return
		case <-ticker.C:
			if x.disk.low.Load() && x.mayDecide() && m.CountReachableMembers() > 1 {
				x.logger.Warn("this node makes another node the leader, because the free disk space is low")
				if err := m.HandOver(""); err != nil {
					x.logger.Warn("this node cannot make another node the leader", "error", err)
				}
			}
		}
	}
}

// diskHandOverPause is the time between two checks of the leader's disk. It is long, because the disks of all
// nodes may be full.
const diskHandOverPause = 3 * time.Second

// handOverIfLeading makes another node the leader before this node stops. The other nodes would otherwise
// forward requests to this one, which refuses them while it waits for those in flight.
func (x *Exchange) handOverIfLeading() {
	m := x.cluster.member.Load()
	if m == nil || !m.HoldsLease() {
		return
	}
	if err := m.HandOver(""); err != nil {
		x.logger.Info("the leader stops before a hand-over", "error", err)
	}
}

// leaveCluster ends the membership of this node. A leader makes another node the leader first.
func (x *Exchange) leaveCluster() error {
	if reader := x.cluster.reader.Load(); reader != nil {
		reader.Close()
	}
	m := x.cluster.member.Load()
	if m == nil {
		return nil
	}
	err := errors.Join(m.Close(), x.cluster.forwarder.Shutdown())
	x.cluster.lastLeadership.Wait()
	x.cluster.oldEngines.Wait()
	return err
}

// engineForReading returns an engine that can read the state. A follower has one too.
func (x *Exchange) engineForReading() *engine.Engine {
	if reader := x.cluster.reader.Load(); reader != nil {
		return reader
	}
	return x.engine.Load()
}

// unwritableLog is the log of an engine that only reads: it accepts no entry.
type unwritableLog struct{}

// Append returns ErrNotLeader.
func (unwritableLog) Append([]byte, engine.CommitWaiter) error { return engine.ErrNotLeader }

// clusterRoles begins and ends the leaderships of this node.
type clusterRoles struct{ x *Exchange }

// Lead begins to decide about requests.
func (r clusterRoles) Lead(log *cluster.Log) {
	x := r.x
	<-x.cluster.joined
	x.cluster.lastLeadership.Wait() // at most for the attempts to send webhooks in progress
	x.cluster.lastLeadership.Add(1)
	leadership := x.cluster.leaderships.Add(1)
	began := time.Now()
	x.cluster.queue.Store(log)
	_, at := x.log.LastEntry()
	x.clock.AdvanceTo(at)
	err := x.keys.StartIssuing(x.state.HighestEncryptionKeySlot(), func(name string, content []byte) error {
		return engineLogError(x.cluster.member.Load().ReplicateFile(name, content))
	})
	if err == nil {
		err = x.startDeciding(clusterLogAdapter{log}, func(deadline time.Time) bool {
			return x.waitUntilMayDecide(leadership, deadline)
		})
	}
	switch {
	case err == nil:
		x.logger.Info("this node decides about requests now", "node", x.settings.Cluster.Node, "seconds", time.Since(began).Seconds())
	case engine.IsEndOfLeadership(err):
		x.logger.Info("this node lost the leadership before it decided about requests", "node", x.settings.Cluster.Node, "error", err)
	default:
		x.broken <- fmt.Errorf("this node of the cluster cannot decide about requests, and stops: %w", err)
	}
}

// Follow ends the decisions of this node. It does not wait for the attempts in progress: other nodes wait
// for the leadership. An engine whose leadership ended can log nothing more, so it may end later than the
// next one begins.
func (r clusterRoles) Follow() {
	x := r.x
	x.deciding.Store(false)
	x.publicServer.SetEngine(nil)
	if ended := x.engine.Load(); ended != nil {
		x.cluster.oldEngines.Go(ended.Close)
	}
	go func() {
		defer x.cluster.lastLeadership.Done()
		x.stopBackgroundSending()
		x.keys.StopIssuing()
		x.configMu.Lock() // a change of the configuration in progress ends before the next leadership
		x.active.Store(nil)
		x.configMu.Unlock()
	}()
}

// setAdminCluster makes the admin server forward requests to the leader.
func (x *Exchange) setAdminCluster() {
	if !x.isClustered() {
		return
	}
	x.adminServer.SetCluster(admin.Cluster{Forward: x.cluster.forwarder, ReadEngine: x.cluster.reader.Load, ReportLag: func() (time.Duration, bool) {
		m, report := x.cluster.member.Load(), x.Report()
		if m == nil || report == nil {
			return 0, false
		}
		lag := max(report.ProgressStatus().Lag, m.SinceLeaderContact())
		if m.LagEntries() > 0 {
			_, at := x.log.LastEntry()
			lag = max(lag, time.Duration(x.clock.Now()-at))
		}
		return lag, true
	}})
}

// newForwarder returns the forwarder of this node's requests, or nil for a single node.
func (x *Exchange) newForwarder() *forward.Forwarder {
	if !x.isClustered() {
		return nil
	}
	return forward.New(forward.Options{Leader: x.currentLeader, Logger: x.logger, Dial: func(id, address string, timeout time.Duration) (net.Conn, error) {
		m := x.cluster.member.Load()
		if m == nil {
			return nil, errStarting
		}
		return m.DialForRequests(id, address, timeout)
	}})
}

// currentLeader returns the node that decides. It is unknown while this node starts, and during an
// election.
func (x *Exchange) currentLeader() forward.Leader {
	m := x.cluster.member.Load()
	switch {
	case m == nil:
		return forward.Leader{}
	case x.mayDecide():
		return forward.Leader{Self: true}
	}
	leader := m.Leader()
	if leader.ID == x.settings.Cluster.Node { // it does not decide yet, or no longer
		return forward.Leader{}
	}
	return forward.Leader{ID: leader.ID, Address: leader.Address}
}

// mayDecide reports whether this node may decide about requests and send to buyers and suppliers. That is true for a
// single node. In a cluster this node's engine must run, and it must hold the lease, so that no other node can be the
// leader.
func (x *Exchange) mayDecide() bool {
	if !x.isClustered() {
		return true
	}
	m := x.cluster.member.Load()
	return m != nil && x.deciding.Load() && m.HoldsLease()
}

// leasePause is the time between two checks of waitUntilMayDecide.
const leasePause = 2 * time.Millisecond

// waitUntilMayDecide waits for the end of a short interruption of the lease, at most until the deadline. It
// reports whether this node may still send in this leadership. In a later leadership another engine sends.
func (x *Exchange) waitUntilMayDecide(leadership uint64, deadline time.Time) bool {
	for !x.mayDecide() {
		if !x.deciding.Load() || x.cluster.leaderships.Load() != leadership || time.Now().After(deadline) {
			return false
		}
		time.Sleep(leasePause)
	}
	return x.cluster.leaderships.Load() == leadership
}

// replicatedState applies the log entries of other leaders to the state. The leader's own entries are
// applied by the requests that wait for them.
type replicatedState struct {
	exchange *Exchange
	decoder  event.Decoder
}

// Apply applies an entry. It also erases the keys of the leads that the entry erases.
func (r *replicatedState) Apply(seq uint64, at int64, data []byte) error {
	r.decoder.ForReplay = true
	decoded, err := r.decoder.Decode(data)
	if err != nil {
		return fmt.Errorf("cannot decode log entry %d: %w", seq, err)
	}
	var erased []uint64
	if e, ok := decoded.(*event.PersonalDataOfLeadsErased); ok {
		erased = e.Slots
	}
	r.exchange.state.Apply(seq, at, decoded)
	if len(erased) == 0 {
		return nil
	}
	return r.exchange.keys.Erase(erased)
}

// Hash returns the hash of the state after the last applied entry.
func (r *replicatedState) Hash() (seq, hash uint64) { return r.exchange.state.Hash() }

// storeFile writes a file that log entries will refer to, under its name in the data directory, durably. In
// a cluster all nodes get it. The name stands for the content.
func (x *Exchange) storeFile(name string, content io.WriterTo) error {
	if !x.isClustered() {
		return durable.WriteFile(filepath.Join(x.settings.DataDir, filepath.FromSlash(name)), content)
	}
	var text bytes.Buffer
	if _, err := content.WriteTo(&text); err != nil {
		return err
	}
	return engineLogError(x.cluster.member.Load().ReplicateFile(name, text.Bytes()))
}

// logQueue returns the number and the bytes of the entries that wait for the log, and the age of the oldest that is
// not durable; in a cluster those of this node's last leadership.
func (x *Exchange) logQueue() (entries, bytes int, age time.Duration) {
	if log := x.cluster.queue.Load(); log != nil {
		return log.Queued()
	}
	return x.log.Queued()
}
