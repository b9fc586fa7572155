package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"pingpost/fuzz/powerloss/disk"
	"pingpost/fuzz/powerloss/strace"
	"pingpost/fuzz/witness"
)

// node is a machine of a recorded cluster. It runs one process after another.
type node struct {
	id      string
	folder  string // holds exchange.json and the data directory
	address string // an IP of its own; its ports stay the same over restarts
	starts  int
	process *process // nil: the node does not run
	trace   string   // record of the present process
	disks   []startedDisk
}

// startedDisk is a node's disk from a tick on, until the node loses its power.
type startedDisk struct {
	from int
	*disk.Disk
}

func newNodes(folder string) (nodes []*node) {
	for _, id := range []string{"a", "b", "c"} {
		// Almost certainly no other process of the machine has this address.
		address := fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
		nodes = append(nodes, &node{id: id, folder: filepath.Join(folder, id), address: address})
	}
	return nodes
}

func (n *node) configFile() string { return filepath.Join(n.folder, "exchange.json") }

// exchangeKeyFile returns the path of the exchange's key, which an operator copies to new nodes.
func (n *node) exchangeKeyFile() string {
	return filepath.Join(dataDir(n.folder), "keys", "exchange.key")
}

// writeNodeConfigs writes the configuration of each node, and its list, into the folders of the nodes.
func writeNodeConfigs(nodes []*node, document []byte) error {
	peers := object{}
	for _, n := range nodes {
		peers[n.id] = n.address + ":7400"
	}
	for _, n := range nodes {
		var own object
		if err := json.Unmarshal(document, &own); err != nil {
			return err
		}
		own["provisioning"] = "seed"
		own["cluster"] = object{"node": n.id, "listen": peers[n.id], "peers": peers}
		own["listen"] = n.address + ":8080"
		own["admin"] = object{"listen": n.address + ":9090", "password": witness.AdminPassword}
		err := errors.Join(os.MkdirAll(dataDir(n.folder), 0o700), os.WriteFile(n.configFile(), witness.Encode(own), 0o600),
			os.WriteFile(filepath.Join(n.folder, "list_0.txt"), suppressionListContent(0), 0o600))
		if err != nil {
			return err
		}
	}
	return nil
}

// start starts a recorded process and waits until it serves.
func (n *node) start(ctx context.Context, program string) error {
	if err := n.launch(ctx, program); err != nil {
		return err
	}
	return n.process.awaitServing()
}

// launch starts a recorded process.
func (n *node) launch(ctx context.Context, program string) error {
	n.starts++
	n.trace = filepath.Join(n.folder, fmt.Sprintf("start-%d.strace", n.starts))
	started, err := startProcess(ctx, program, n.folder, n.trace)
	if err == nil {
		n.process = started
	}
	return err
}

// load loads the node's disk as durable, from a tick on.
func (n *node) load(from int) error {
	d, err := disk.Load(dataDir(n.folder))
	n.disks = append(n.disks, startedDisk{from, d})
	return err
}

// stop ends the node's process with a signal.
func (n *node) stop(signal syscall.Signal) error {
	ended := n.process
	n.process = nil
	select {
	case <-ended.Ended:
		return fmt.Errorf("node %s ended unexpectedly: %w\n%s", n.id, ended.Err, ended.LastLines())
	default:
	}
	if err := ended.stop(signal); err != nil {
		return fmt.Errorf("node %s: %w", n.id, err)
	}
	return nil
}

// readRecord applies the record of the ended process to the node's disk.
func (n *node) readRecord(start time.Time) (acks []ack, calls, lastTick int, err error) {
	file, err := os.Open(n.trace)
	if err != nil {
		return nil, 0, 0, err
	}
	defer file.Close()
	all, lastTick, err := strace.ReadTimedRecord(file, start)
	if err != nil {
		return nil, 0, 0, err
	}
	d := n.disks[len(n.disks)-1].Disk
	before := d.RelevantCallCount()
	if err := errors.Join(d.ApplyCalls(all, lastTick), d.CompareWithRealFolder()); err != nil {
		return nil, 0, 0, fmt.Errorf("node %s: %w", n.id, err)
	}
	acks, err = parseAcks(all)
	return acks, d.RelevantCallCount() - before, lastTick, errors.Join(err, os.Remove(n.trace))
}

// diskAt returns the node's disk at a tick.
func diskAt(disks []startedDisk, tick int) *disk.Disk {
	at := disks[0].Disk
	for _, d := range disks[1:] {
		if d.from <= tick {
			at = d.Disk
		}
	}
	return at
}

// decides reports whether a node leads the cluster and decides about requests.
func (n *node) decides(ctx context.Context) bool {
	if n.process == nil {
		return false
	}
	text, err := n.process.adminCall(ctx, "GET", "/metrics", "")
	return err == nil && strings.Contains(string(text), "\npingpost_cluster_leader 1\n")
}

// awaitLeader waits until one of the nodes decides.
func awaitLeader(ctx context.Context, nodes []*node) (*node, error) {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline) && ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		for _, n := range nodes {
			if n.decides(ctx) {
				return n, nil
			}
		}
	}
	return nil, withLastLines(nodes, errors.New("no node of the cluster decides"))
}

// withLastLines adds the last output of the running nodes to an error.
func withLastLines(nodes []*node, err error) error {
	for _, n := range nodes {
		if n.process != nil {
			err = fmt.Errorf("%w\nnode %s:\n%s", err, n.id, n.process.LastLines())
		}
	}
	return err
}
