package cluster

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"pingpost/internal/durable"
)

// transfer is a file of which the Raft log has some parts, but not the last.
type transfer struct {
	ID    uint64 `json:"id"`   // random
	Size  uint64 `json:"size"` // of the parts so far
	Total uint64 `json:"total"`
	Sum   []byte `json:"sum"`   // SHA-256 of the whole file
	Bytes uint64 `json:"bytes"` // of its content in a Raft snapshot; 0 if that node had the file before

	// hash is the SHA-256 of the parts so far; nil if this node got some of them before its start.
	hash hash.Hash
}

// transfers are the open transfers, by the names of their files. They are a part of the replicated state, like
// batchOrder.
//
// A part counts if it follows the one before it in its transfer. The first part of another transfer of the
// same file ends the earlier one, and a new term ends all: only the leader of a term knows how to go on.
type transfers struct {
	Term uint64               `json:"term"`
	Open map[string]*transfer `json:"open,omitempty"`
}

// endBefore ends the transfers of earlier terms and returns them.
func (ts *transfers) endBefore(term uint64) (ended map[string]*transfer) {
	if term > ts.Term {
		ended = ts.Open
		ts.Term, ts.Open = term, nil
	}
	return ended
}

// accept returns the transfer of a part that counts, otherwise nil. It also returns the transfer that the part
// ended, if any.
func (ts *transfers) accept(c *fileChunk) (of, ended *transfer) {
	open := ts.Open[c.name]
	if c.offset == 0 {
		if open != nil && open.ID != c.transfer {
			ended = open
		}
		open = &transfer{ID: c.transfer, Total: c.total, Sum: bytes.Clone(c.sum[:]), hash: sha256.New()}
		if ts.Open == nil {
			ts.Open = map[string]*transfer{}
		}
		ts.Open[c.name] = open
	}
	if open == nil || open.ID != c.transfer || open.Size != c.offset || open.Total != c.total {
		return nil, ended
	}
	if open.Size += uint64(len(c.data)); open.Size == open.Total {
		delete(ts.Open, c.name)
	}
	return open, ended
}

// applyFileChunk stores a part of a file. The parts before the last are in a file below the folder
// "incoming". The complete file gets its name after a comparison with its checksum.
//
// A file that exists stays as it is. After a restart Raft delivers old parts again, and a file of leads'
// keys may have been changed since: erased keys are overwritten in it.
//
// The parts of a large file are hashed and synced when they come, because the entries behind the last part wait for
// it: to read and sync the whole file then would keep the leader longer than MaxStall from its next commit.
func (m *raftMachine) applyFileChunk(c *fileChunk) error {
	of, ended := m.transfers.accept(c)
	if ended != nil {
		if err := m.node.removeIncoming(ended.ID); err != nil {
			return err
		}
	}
	if of == nil {
		return errIgnored
	}
	target := filepath.Join(m.node.opt.DataDir, filepath.FromSlash(c.name))
	isLast := c.offset+uint64(len(c.data)) == c.total
	if _, err := os.Stat(target); err == nil {
		if isLast { // a crash may have come between the rename and the fsync of the name
			err = durable.SyncFolder(filepath.Dir(target))
		}
		return err
	}
	if of.hash != nil {
		of.hash.Write(c.data)
	}
	incoming := m.node.incomingPath(c.transfer)
	if err := storeFileChunk(incoming, c); err != nil {
		return fmt.Errorf("cannot store a part of file %q: %w", c.name, err)
	}
	if !isLast {
		return nil
	}
	got := of.hash
	if c.total <= syncEvery {
		got = nil
	}
	if err := publishFile(incoming, target, c.sum, got); err != nil {
		return fmt.Errorf("cannot store file %q: %w", c.name, err)
	}
	return nil
}

// endOldTransfers ends the transfers of the terms before this one and deletes their parts.
func (m *raftMachine) endOldTransfers(term uint64) error {
	for _, t := range m.transfers.endBefore(term) {
		if err := m.node.removeIncoming(t.ID); err != nil {
			return err
		}
	}
	return nil
}

func storeFileChunk(path string, c *fileChunk) (err error) {
	flags := os.O_WRONLY
	if c.offset == 0 {
		if err := durable.MakeFolder(filepath.Dir(path)); err != nil {
			return err
		}
		flags |= os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the parts before it are missing: %w", ErrMissingEntries)
	}
	if err != nil {
		return err
	}
	_, err = f.WriteAt(c.data, int64(c.offset))
	if end := c.offset + uint64(len(c.data)); err == nil && (end == c.total || end/syncEvery > c.offset/syncEvery) {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncEvery is the number of bytes of a file after which a node syncs it.
const syncEvery = 4 << 20

// publishFile compares a complete, synced file with its checksum and gives it its name. got is the hash of its
// parts; if it is nil, publishFile reads the file, which also finds damage by the disk.
func publishFile(from, to string, sum [sha256.Size]byte, got hash.Hash) error {
	if got == nil {
		f, err := os.Open(from)
		if err != nil {
			return err
		}
		got = sha256.New()
		_, err = io.Copy(got, f)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	if !bytes.Equal(got.Sum(nil), sum[:]) {
		return errors.New("its SHA-256 differs from the leader's")
	}
	if err := durable.MakeFolder(filepath.Dir(to)); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return durable.SyncFolder(filepath.Dir(to))
}

// incomingFolder is in the data directory, because a complete file gets its name by a rename.
func (n *Node) incomingFolder() string { return filepath.Join(n.opt.DataDir, "incoming") }

func (n *Node) incomingPath(transfer uint64) string {
	return filepath.Join(n.incomingFolder(), fmt.Sprintf("%016x", transfer))
}

func (n *Node) removeIncoming(transfer uint64) error {
	if err := os.Remove(n.incomingPath(transfer)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot delete the parts of a file whose leader stopped: %w", err)
	}
	return nil
}
