package link

import (
	"crypto/rand"
	"encoding/binary"
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

	"pingpost/cluster/clusterid"
	"pingpost/internal/durable"
)

// Identity identifies a node, its data and this start of it.
type Identity struct {
	Node     string
	Data     [16]byte // created with the node's data
	Starts   uint64   // of the node with this data, this one included
	Run      uint64   // random, for this start
	Exchange [16]byte
	Cluster  clusterid.ID
	// HeartbeatTimeout is the node's cluster.Options.HeartbeatTimeout. If it differed between nodes, two nodes
	// could hold the lease at once.
	HeartbeatTimeout time.Duration
	// Position is the result of cluster.ReadPosition before this start.
	Position Position
}

// knownStart is a stored start: of this node, or the latest of another node that this node has met.
type knownStart struct {
	Data   [16]byte `json:"data"`
	Starts uint64   `json:"starts"`
	Run    uint64   `json:"run"`
}

// Registry remembers the starts of all nodes that this node has met, over restarts.
//
// A majority of nodes that forgot what they confirmed would lose acknowledged leads. So a node whose folder
// was replaced by an old copy must not take part: the others remember that it has started more often. The
// same numbers reveal two running nodes with copies of one folder. A copy that was made after the last start
// has an earlier position than the node confirmed.
type Registry struct {
	dir  string // the data directory, with the id of the cluster
	path string
	node string // this one
	mu   sync.Mutex
	met  map[string]knownStart
	// allowRaft reports whether a node with this id may open Raft connections to this one; nil allows all.
	allowRaft func(node string) bool
	confirmed *confirmedPositions
}

// RegistryFile is the name of the registry in the data directory.
const RegistryFile = "starts.json"

// OpenRegistry opens the registry in the data directory, and counts a start of the node: it returns the
// node's identity, without Exchange, HeartbeatTimeout and Position. Each handshake reads Cluster, which changes when
// the node begins or joins a cluster.
func OpenRegistry(dir, node string) (*Registry, Identity, error) {
	r := &Registry{dir: dir, node: node, path: filepath.Join(dir, RegistryFile), met: map[string]knownStart{}}
	content, err := os.ReadFile(r.path)
	if err == nil {
		err = json.Unmarshal(content, &r.met)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, Identity{}, fmt.Errorf("cannot read the starts of the cluster's nodes: %w", err)
	}
	if r.confirmed, err = openConfirmedPositions(dir); err != nil {
		return nil, Identity{}, err
	}
	own := r.met[node]
	var random [24]byte
	_, _ = rand.Read(random[:]) // never fails
	if own.Starts == 0 {
		copy(own.Data[:], random[8:])
	}
	own.Starts++
	own.Run = binary.LittleEndian.Uint64(random[:])
	r.met[node] = own
	if err := r.store(); err != nil {
		return nil, Identity{}, err
	}
	return r, Identity{Node: node, Data: own.Data, Starts: own.Starts, Run: own.Run}, nil
}

// ForgetExcept forgets all other nodes that are not in the list, so that new ones can have their ids.
func (r *Registry) ForgetExcept(members []string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var gone []string
	for _, node := range slices.Concat(slices.Collect(maps.Keys(r.met)), r.confirmed.names()) {
		if node != r.node && !slices.Contains(members, node) {
			gone = append(gone, node)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	for _, node := range gone {
		delete(r.met, node)
	}
	return errors.Join(r.store(), r.confirmed.forget(gone...))
}

// joinCluster stores the id of the cluster that a member of it showed, unless the node has one.
func (r *Registry) joinCluster(id clusterid.ID) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, err := clusterid.Read(r.dir)
	if err != nil || known != (clusterid.ID{}) || id == (clusterid.ID{}) {
		return err
	}
	return clusterid.Write(r.dir, id)
}

// mayOpenRaft reports whether the function of Network.AllowRaftFrom allows the node; without one, all are allowed.
func (r *Registry) mayOpenRaft(node string) bool {
	r.mu.Lock()
	allow := r.allowRaft
	r.mu.Unlock()
	return allow == nil || allow(node)
}

// checkAndRecordStart returns the reason why another node must not take part, or remembers its start.
func (r *Registry) checkAndRecordStart(other *Identity) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, met := r.met[other.Node]
	now := knownStart{other.Data, other.Starts, other.Run}
	switch {
	case met && known == now:
		return nil
	case met && known.Data != other.Data:
		return fmt.Errorf("%w: another node had the id %q; remove that node from the cluster first, or choose another id", errOtherMustStop, other.Node)
	case met && other.Starts < known.Starts:
		return fmt.Errorf("%w: node %q has an old copy of its data: it has started %d times, and the others remember %d; delete its data and let it copy that of another node", errOtherMustStop, other.Node, other.Starts, known.Starts)
	case met && other.Starts == known.Starts:
		return fmt.Errorf("%w: two nodes with the id %q run with copies of the same data; stop the copy and delete its data", errOtherMustStop, other.Node)
	case met && other.Position.hasForgotten(r.confirmed.of(other.Node)):
		return fmt.Errorf("%w: node %q has an old copy of its data: its Raft log ends at %+v, and it has confirmed %+v; delete its data and let it copy that of another node", errOtherMustStop, other.Node, other.Position, r.confirmed.of(other.Node))
	}
	r.met[other.Node] = now
	return r.store()
}

func (r *Registry) store() error {
	content, err := json.Marshal(r.met)
	if err == nil {
		err = durable.WriteFile(r.path, strings.NewReader(string(content)))
	}
	if err != nil {
		return fmt.Errorf("cannot store the starts of the cluster's nodes: %w", err)
	}
	return nil
}
