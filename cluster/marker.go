package cluster

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/hashicorp/raft"

	"pingpost/internal/durable"
)

// marker is the beginning of a Raft snapshot, one line of JSON. The data itself is in the node's log and its
// snapshots, so a Raft snapshot only says up to which entry they contain the Raft log. After the line
// follow the parts of the open transfers, in the order of the names of their files.
type marker struct {
	LastEntry uint64     `json:"last_entry"`
	Order     batchOrder `json:"order"`
	Transfers transfers  `json:"transfers"`
}

// maxMarker is the length of the longest line.
const maxMarker = 1 << 20

// Snapshot returns the present position. Raft deletes entries before it from its log.
func (m *raftMachine) Snapshot() (raft.FSMSnapshot, error) {
	if m.failure != nil {
		return nil, m.failure
	}
	last, _ := m.node.opt.Log.LastEntry()
	s := &positionSnapshot{node: m.node, marker: marker{LastEntry: last, Order: m.order, Transfers: transfers{Term: m.transfers.Term}}}
	for _, name := range slices.Sorted(maps.Keys(m.transfers.Open)) {
		t := *m.transfers.Open[name]
		t.Bytes = 0
		f, err := os.Open(m.node.incomingPath(t.ID))
		switch {
		case err == nil:
			t.Bytes = t.Size
			s.parts = append(s.parts, f)
		case !errors.Is(err, fs.ErrNotExist):
			s.Release()
			return nil, err
		}
		if s.marker.Transfers.Open == nil {
			s.marker.Transfers.Open = map[string]*transfer{}
		}
		s.marker.Transfers.Open[name] = &t
	}
	return s, nil
}

// positionSnapshot is a position. It holds the open files of the transfers, because further parts may
// complete them, or a new term may end them, before Persist is called.
type positionSnapshot struct {
	node   *Node
	marker marker
	parts  []*os.File
}

// Persist stores the position after the node's log is durable up to it. Raft deletes its own copy of
// these entries next, so this is the moment from which they depend on the node's log.
func (s *positionSnapshot) Persist(sink raft.SnapshotSink) error {
	durable, err := s.node.opt.Log.Sync()
	if err == nil && durable < s.marker.LastEntry {
		panic(fmt.Sprintf("BUG: Sync made entry %d durable, not %d", durable, s.marker.LastEntry))
	}
	if err == nil && s.node.opt.MayCompact != nil {
		if needed := s.node.opt.MayCompact(s.marker.LastEntry); needed != nil {
			err = fmt.Errorf("%s: %w", raftLogStays, needed)
		}
	}
	if err == nil {
		err = s.write(sink)
	}
	if err != nil {
		return errors.Join(err, sink.Cancel())
	}
	return sink.Close()
}

func (s *positionSnapshot) write(to io.Writer) error {
	if err := json.NewEncoder(to).Encode(s.marker); err != nil {
		return err
	}
	parts := s.parts
	for _, name := range slices.Sorted(maps.Keys(s.marker.Transfers.Open)) {
		t := s.marker.Transfers.Open[name]
		if t.Bytes == 0 {
			continue
		}
		if _, err := io.Copy(to, io.NewSectionReader(parts[0], 0, int64(t.Bytes))); err != nil {
			return fmt.Errorf("cannot copy the parts of file %q: %w", name, err)
		}
		parts = parts[1:]
	}
	return nil
}

// Release closes the files.
func (s *positionSnapshot) Release() {
	for _, f := range s.parts {
		_ = f.Close() // it was only read
	}
	s.parts = nil
}

// Restore accepts the position of another node if this node's log reaches it, durably. Otherwise the node
// lacks entries and stops.
func (m *raftMachine) Restore(from io.ReadCloser) error {
	defer from.Close()
	_, err := m.node.opt.Log.Sync() // Raft deletes its log next
	if err == nil {
		err = m.load(from)
	}
	if err != nil {
		m.failure = fmt.Errorf("cannot use another node's Raft snapshot: %w", err)
		m.node.fail(m.failure)
	}
	return err
}

// load reads a Raft snapshot. It replaces the parts of files that this node has by those in the snapshot:
// Raft delivers later parts again.
func (m *raftMachine) load(snapshot io.Reader) error {
	from := bufio.NewReader(snapshot)
	at, err := readMarker(from)
	if err != nil {
		return err
	}
	if last, _ := m.node.opt.Log.LastEntry(); last < at.LastEntry {
		return fmt.Errorf("the Raft log begins after log entry %d, and this node's log ends with %d: %w", at.LastEntry, last, ErrMissingEntries)
	}
	if err := os.RemoveAll(m.node.incomingFolder()); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(at.Transfers.Open)) {
		if t := at.Transfers.Open[name]; t.Bytes > 0 {
			if err := storeParts(m.node.incomingPath(t.ID), io.LimitReader(from, int64(t.Bytes)), t.Bytes); err != nil {
				return fmt.Errorf("cannot restore the parts of file %q: %w", name, err)
			}
		}
	}
	m.order, m.transfers = at.Order, at.Transfers
	return nil
}

func storeParts(path string, content io.Reader, size uint64) error {
	if err := durable.MakeFolder(filepath.Dir(path)); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, content)
	if err == nil && uint64(n) < size {
		err = io.ErrUnexpectedEOF
	}
	return errors.Join(err, f.Sync(), f.Close())
}

func readMarker(from *bufio.Reader) (at marker, err error) {
	var line []byte
	for err == nil && len(line) < maxMarker && (len(line) == 0 || line[len(line)-1] != '\n') {
		var part []byte
		part, err = from.ReadSlice('\n')
		line = append(line, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			err = nil
		}
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = json.Unmarshal(line, &at)
	}
	if err != nil {
		return at, fmt.Errorf("cannot read a Raft snapshot: %w", err)
	}
	return at, nil
}
