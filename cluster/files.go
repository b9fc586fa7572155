package cluster

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/hashicorp/raft"
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
//	 0        8       16         24         56
//	+--------+-------+----------+----------+----------------------+--------+
//	| offset | total | transfer | checksum | uvarint length, name | data … |
//	+--------+-------+----------+----------+----------------------+--------+
type fileChunk struct {
	name     string // relative to the data directory, with slashes
	offset   uint64
	total    uint64            // bytes of the whole file
	transfer uint64            // a random number that the parts of one ReplicateFile share
	sum      [sha256.Size]byte // of the whole file
	data     []byte
}

const fileChunkHeaderSize = 56

func encodeFileChunk(c *fileChunk) []byte {
	out := make([]byte, entryHeaderSize, entryHeaderSize+fileChunkHeaderSize+binary.MaxVarintLen32+len(c.name)+len(c.data))
	out[0] = byte(kindFileChunk)
	out = binary.LittleEndian.AppendUint64(out, c.offset)
	out = binary.LittleEndian.AppendUint64(out, c.total)
	out = binary.LittleEndian.AppendUint64(out, c.transfer)
	out = append(out, c.sum[:]...)
	out = binary.AppendUvarint(out, uint64(len(c.name)))
	out = append(append(out, c.name...), c.data...)
	binary.LittleEndian.PutUint32(out[1:], entryChecksum(out))
	return out
}

func decodeFileChunk(body []byte) (c fileChunk, err error) {
	if len(body) < fileChunkHeaderSize {
		return c, fmt.Errorf("a replicated part of a file has only %d bytes", len(body))
	}
	c.offset, c.total = binary.LittleEndian.Uint64(body), binary.LittleEndian.Uint64(body[8:])
	c.transfer = binary.LittleEndian.Uint64(body[16:])
	copy(c.sum[:], body[24:])
	body = body[fileChunkHeaderSize:]
	size, n := binary.Uvarint(body)
	if n <= 0 || size > uint64(len(body)-n) {
		return c, errors.New("a replicated part of a file has an invalid name")
	}
	c.name, c.data = string(body[n:n+int(size)]), body[n+int(size):]
	if !fs.ValidPath(c.name) || len(c.name) > maxFileName || c.offset+uint64(len(c.data)) > c.total {
		return c, fmt.Errorf("a replicated part of file %q is invalid", c.name)
	}
	return c, nil
}

// ReplicateFile stores a file on all nodes, under that name in their data directories. It returns when a
// majority has all of it on disk and this node has the file. A file that exists already is not changed,
// so the name must be new, or stand for the content. Only the leader replicates files. After ErrUnknown
// other nodes may have the file. The caller must not change content meanwhile.
func (n *Node) ReplicateFile(name string, content []byte) error {
	if !fs.ValidPath(name) || len(name) > maxFileName {
		return fmt.Errorf("cannot replicate file %q: the name is invalid", name)
	}
	c := fileChunk{name: name, total: uint64(len(content)), transfer: randomNumber(), sum: sha256.Sum256(content)}
	sent := sha256.New()
	for offset := 0; ; offset += fileChunkSize {
		c.offset, c.data = uint64(offset), content[offset:min(offset+fileChunkSize, len(content))]
		sent.Write(c.data)
		if offset+len(c.data) == len(content) && !bytes.Equal(sent.Sum(nil), c.sum[:]) {
			return fmt.Errorf("cannot replicate file %q: BUG: the caller changed its content", name)
		}
		if err := n.replicateFileChunk(&c); err != nil {
			return fmt.Errorf("cannot replicate file %q: %w", name, errorOfWaiter(err))
		}
		if offset+len(c.data) == len(content) {
			return nil
		}
	}
}

// replicateFileChunk waits until a part is applied. watchForStalls sees for how long.
func (n *Node) replicateFileChunk(c *fileChunk) error {
	n.openChunks.Store(c.transfer, time.Now())
	defer n.openChunks.Delete(c.transfer)
	result := n.raft.ApplyLog(raft.Log{Data: encodeFileChunk(c)}, 0)
	if err := result.Error(); err != nil {
		return err
	}
	err, _ := result.Response().(error)
	return err
}

// ageOfOldestFileChunk returns how long the oldest part without a result waits; 0 if there is none.
func (n *Node) ageOfOldestFileChunk(now time.Time) (age time.Duration) {
	n.openChunks.Range(func(_, began any) bool {
		age = max(age, now.Sub(began.(time.Time)))
		return true
	})
	return age
}
