package cluster

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hashicorp/raft"

	"pingpost/internal/durable"
)

// fileChunkSize is the number of bytes of a file in one Raft entry. It is small enough not to delay the
// batches between two chunks noticeably.
const fileChunkSize = 256 << 10

// maxFileName is the length of the longest name, in bytes.
const maxFileName = 200

// fileChunk is a part of a file in a Raft entry. Log entries refer to files, such as a configuration
// document, a suppression list or the encryption keys of leads, so every node needs the file first.
//
// The body of kind 2:
//
//	 0        8       16
//	+--------+-------+----------------------+--------+
//	| offset | total | uvarint length, name | data … |
//	+--------+-------+----------------------+--------+
type fileChunk struct {
	name   string // relative to the data directory, with slashes
	offset uint64
	total  uint64 // bytes of the whole file
	data   []byte
}

func encodeFileChunk(c *fileChunk) []byte {
	out := make([]byte, entryHeaderSize, entryHeaderSize+16+binary.MaxVarintLen32+len(c.name)+len(c.data))
	out[0] = byte(kindFileChunk)
	out = binary.LittleEndian.AppendUint64(out, c.offset)
	out = binary.LittleEndian.AppendUint64(out, c.total)
	out = binary.AppendUvarint(out, uint64(len(c.name)))
	out = append(append(out, c.name...), c.data...)
	binary.LittleEndian.PutUint32(out[1:], entryChecksum(out))
	return out
}

func decodeFileChunk(body []byte) (c fileChunk, err error) {
	if len(body) < 16 {
		return c, fmt.Errorf("a replicated part of a file has only %d bytes", len(body))
	}
	c.offset, c.total = binary.LittleEndian.Uint64(body), binary.LittleEndian.Uint64(body[8:])
	size, n := binary.Uvarint(body[16:])
	if n <= 0 || size > uint64(len(body)-16-n) {
		return c, errors.New("a replicated part of a file has an invalid name")
	}
	c.name, c.data = string(body[16+n:16+n+int(size)]), body[16+n+int(size):]
	if !fs.ValidPath(c.name) || len(c.name) > maxFileName || c.offset+uint64(len(c.data)) > c.total {
		return c, fmt.Errorf("a replicated part of file %q is invalid", c.name)
	}
	return c, nil
}

// ReplicateFile stores a file on all nodes, under that name in their data directories. It returns when a
// majority has all of it on disk and this node has the file. A file that exists already is not changed,
// so the name must be new, or stand for the content. Only the leader replicates files. After ErrUnknown
// other nodes may have the file.
func (n *Node) ReplicateFile(name string, content []byte) error {
	if !fs.ValidPath(name) || len(name) > maxFileName {
		return fmt.Errorf("cannot replicate file %q: the name is invalid", name)
	}
	for offset := 0; ; offset += fileChunkSize {
		part := content[offset:min(offset+fileChunkSize, len(content))]
		c := fileChunk{name: name, offset: uint64(offset), total: uint64(len(content)), data: part}
		result := n.raft.ApplyLog(raft.Log{Data: encodeFileChunk(&c)}, 0)
		err := result.Error()
		if err == nil {
			err, _ = result.Response().(error)
		}
		if err != nil {
			return fmt.Errorf("cannot replicate file %q: %w", name, errorOfWaiter(err))
		}
		if offset+len(part) == len(content) {
			return nil
		}
	}
}

// applyFileChunk stores a part of a file. The parts before the last are in a file of their own, so a node
// that restarts in between goes on with the next part. The first part begins that file anew, because
// an earlier leader may have stopped in the middle.
//
// A file that exists stays as it is. After a restart Raft delivers old parts again, and a file of leads'
// keys may have been changed since: erased keys are overwritten in it.
func (m *raftMachine) applyFileChunk(c *fileChunk) error {
	target := filepath.Join(m.node.opt.DataDir, filepath.FromSlash(c.name))
	if _, err := os.Stat(target); err == nil {
		return nil
	}
	incoming := m.node.incomingPath(c.name)
	size, err := appendFileChunk(incoming, c)
	switch {
	case err != nil:
		return fmt.Errorf("cannot store a part of file %q: %w", c.name, err)
	case size < c.total:
		return nil
	}
	return publishFile(incoming, target)
}

// appendFileChunk writes the part and returns the size of the file so far. It returns errIgnored if the
// part before it is missing, because a leader lost it.
func appendFileChunk(path string, c *fileChunk) (size uint64, err error) {
	flags := os.O_WRONLY
	if c.offset == 0 {
		if err := durable.MakeFolder(filepath.Dir(path)); err != nil {
			return 0, err
		}
		flags |= os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, errIgnored
	}
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	switch have := uint64(info.Size()); {
	case have < c.offset:
		return 0, errIgnored
	case have > c.offset: // after a restart
		err = f.Truncate(int64(c.offset))
	}
	if err == nil {
		_, err = f.WriteAt(c.data, int64(c.offset))
	}
	return c.offset + uint64(len(c.data)), err
}

// publishFile makes a complete file durable and gives it its name.
func publishFile(from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close(), durable.MakeFolder(filepath.Dir(to))); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return durable.SyncFolder(filepath.Dir(to))
}

// incomingFolder is in the data directory, because a complete file gets its name by a rename.
func (n *Node) incomingFolder() string { return filepath.Join(n.opt.DataDir, "incoming") }

func (n *Node) incomingPath(name string) string {
	return filepath.Join(n.incomingFolder(), fmt.Sprintf("%x", sha256.Sum256([]byte(name))))
}

// syncIncomingFiles makes the incomplete files durable, before Raft deletes its copy of their parts.
func (n *Node) syncIncomingFiles() error {
	dir := n.incomingFolder()
	names, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, name := range names {
		var f *os.File
		f, err = os.Open(filepath.Join(dir, name.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it is complete now
		}
		if err == nil {
			err = errors.Join(f.Sync(), f.Close())
		}
		if err != nil {
			break
		}
	}
	if err == nil && len(names) > 0 {
		err = durable.SyncFolder(dir)
	}
	if err != nil {
		return fmt.Errorf("cannot fsync the incomplete files in %q: %w", dir, err)
	}
	return nil
}
