package exchange

import (
	"errors"
	"fmt"
	"time"

	"pingpost/cluster"
	"pingpost/config"
	"pingpost/engine"
	"pingpost/engine/state"
	"pingpost/exchange/member"
	"pingpost/keys/leadkeys"
	"pingpost/keys/vault"
	"pingpost/wal"
)

// memberStartTimeout limits the wait until the first node of a cluster leads it.
const memberStartTimeout = 10 * time.Second

// CreateCluster makes the data directory of the configuration that of the first node of a new cluster. An
// exchange without data begins; one with data keeps it. The exchange must not run.
func CreateCluster(configPath string, opt Options) error {
	built, err := loadConfiguration(configPath, opt.Env)
	if err != nil {
		return err
	}
	if !built.Settings.Cluster.IsSet() {
		return fmt.Errorf("the configuration %q has no section cluster; add it with node, listen and peers", configPath)
	}
	x := newExchange(configPath, opt, built)
	x.built.Store(built)
	if clustered, err := hasRaftEntries(x.settings.DataDir); clustered || err != nil {
		return errors.Join(fmt.Errorf("data_dir %q has the data of a cluster's node already", x.settings.DataDir), err)
	}
	if err := x.beginLog(); err != nil {
		return err
	}
	s, err := x.memberSettings(x.vault)
	if err != nil {
		return err
	}
	x.replica, err = wal.OpenReplica(x.settings.DataDir, wal.Options{})
	if err != nil {
		return err
	}
	m, err := member.Open(member.Options{
		Settings: s, Exchange: x.state.FoundedEvent().Epoch, Log: x.replica, StateMachine: &replicatedState{exchange: x}, Roles: noRoles{}, Now: x.clock.Now,
	})
	if err != nil {
		return errors.Join(err, x.replica.Close())
	}
	err = m.Bootstrap()
	for deadline := time.Now().Add(memberStartTimeout); err == nil && !m.HoldsLease(); time.Sleep(leasePause) {
		if time.Now().After(deadline) {
			err = errors.New("the first node of the cluster does not become its leader; delete the folder cluster in data_dir, and try again")
		}
	}
	return errors.Join(err, m.Close(), x.replica.Close())
}

// hasRaftEntries reports whether the data directory is that of a cluster's node. A Raft log without entries is
// the rest of a CreateCluster that a crash ended.
func hasRaftEntries(dataDir string) (bool, error) {
	if clustered, err := member.IsClusterData(dataDir); !clustered || err != nil {
		return false, err
	}
	at, err := member.ReadRaftPosition(dataDir)
	return at.Index > 0, err
}

// noRoles ignores the roles of a node.
type noRoles struct{}

func (noRoles) Lead(*cluster.Log) {}
func (noRoles) Follow()           {}

// beginLog begins the exchange's log and creates its key, unless it has them.
func (x *Exchange) beginLog() error {
	dir := x.settings.DataDir
	if err := createDataDirAndCheckWritable(dir); err != nil {
		return err
	}
	x.state = state.New()
	x.settings.Cluster = config.ClusterSettings{} // the log has no other node yet
	err := x.openAndReplayLog(dir)
	x.settings.Cluster = x.built.Load().Settings.Cluster
	if err != nil {
		return err
	}
	if x.vault, err = vault.OpenExchangeKey(dir, x.state.FoundedEvent().Epoch == [16]byte{}); err == nil {
		e := engine.New(engine.Options{State: x.state, Log: engineLogAdapter{x.log}, Clock: x.clock, Entropy: fillRandom})
		err = e.InitializeLogOrCheckKey(x.vault.KeyFingerprint())
		e.Close()
	}
	return errors.Join(err, x.log.Close())
}

// ClusterRecovery is the state of a stopped node before it becomes a single exchange.
type ClusterRecovery struct {
	Node string
	Raft cluster.RaftPosition
	Last uint64 // last entry of the log
}

// InspectClusterNode returns the state of a stopped node, so that an operator can choose the node with the
// newest data.
func InspectClusterNode(configPath string, opt Options) (r ClusterRecovery, err error) {
	x, err := newStoppedNode(configPath, opt)
	if err != nil {
		return r, err
	}
	r.Node = x.settings.Cluster.Node
	if r.Raft, err = member.ReadRaftPosition(x.settings.DataDir); err != nil {
		return r, err
	}
	r.Last, _, err = StateHash(x.settings.DataDir, 0)
	return r, err
}

func newStoppedNode(configPath string, opt Options) (*Exchange, error) {
	built, err := loadConfiguration(configPath, opt.Env)
	if err != nil {
		return nil, err
	}
	clustered, err := member.IsClusterData(built.Settings.DataDir)
	switch {
	case err != nil:
		return nil, err
	case !built.Settings.Cluster.IsSet() || !clustered:
		return nil, fmt.Errorf("the configuration %q or its data_dir %q is not that of a cluster's node", configPath, built.Settings.DataDir)
	}
	x := newExchange(configPath, opt, built)
	x.built.Store(built)
	return x, nil
}

// RecoverFromCluster makes the data of a stopped node those of a single exchange. It keeps every entry that
// the node has, also those of which the node does not know whether a majority had them. The node's
// membership ends: the nodes of the old cluster refuse it.
func RecoverFromCluster(configPath string, opt Options) (last uint64, err error) {
	x, err := newStoppedNode(configPath, opt)
	if err != nil {
		return 0, err
	}
	dir := x.settings.DataDir
	x.state = state.New()
	if err := x.openAndReplayLog(dir); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, x.replica.Close()) }()
	if x.vault, err = vault.OpenExchangeKey(dir, false); err != nil {
		return 0, err
	}
	if x.keys, err = leadkeys.OpenWithoutIssuing(dir, deriveChecksumKey(x.vault), x.logLeadKeyMakingResult); err != nil {
		return 0, err
	}
	if err := member.ApplyRaftLog(dir, x.replica, &replicatedState{exchange: x}, x.logger); err != nil {
		return 0, err
	}
	if err := x.keys.Erase(x.state.ErasedEncryptionKeySlots()); err != nil {
		return 0, err
	}
	last, _ = x.log.LastEntry()
	return last, member.RemoveMembership(dir)
}
