package disk

import "slices"

// pageSize is the unit that the disk writes at once unless it tears.
const pageSize = 4096

// callSpan is the start and the end of a call.
type callSpan struct{ enter, done int }

// fileChange is a write to a file, or without data a new size.
type fileChange struct {
	callSpan
	off  int64
	data []byte
	size int64
}

// node is a file or a directory, independent of its names.
type node struct {
	id       int
	isFolder bool
	syncs    []callSpan
	changes  []fileChange // of a file, in the order of their effect
	size     int64        // of a file, in the live view

	names map[string]*node // of a directory, in the live view
}

// addChange adds a change that took effect.
func (n *node) addChange(c fileChange) {
	n.changes = append(n.changes, c)
	n.size = c.sizeAfter(n.size)
}

// sizeAfter returns a file's size after the change.
func (c *fileChange) sizeAfter(size int64) int64 {
	if c.data == nil {
		return c.size
	}
	return max(size, c.off+int64(len(c.data)))
}

// lastSyncStart returns the start of the last fsync that had returned at a tick. Earlier changes
// are durable.
func (n *node) lastSyncStart(at int) (tick int) {
	for i := range n.syncs {
		if n.syncs[i].done <= at {
			tick = max(tick, n.syncs[i].enter)
		}
	}
	return tick
}

// isDurable reports whether a change that ended at doneTick is durable at atTick.
func (n *node) isDurable(doneTick, atTick int) bool { return doneTick < n.lastSyncStart(atTick) }

// durableChangeCount returns the number of a file's first changes that are durable at a tick.
func (n *node) durableChangeCount(at int) int {
	upTo := n.lastSyncStart(at)
	count, _ := slices.BinarySearchFunc(n.changes, upTo, func(c fileChange, upTo int) int { return c.done - upTo })
	return count
}

// contentAfter returns a file's content in the live view after the changes.
func contentAfter(changes []fileChange) []byte {
	var text []byte
	for i := range changes {
		text = changes[i].apply(text)
	}
	return text
}

func (c *fileChange) apply(text []byte) []byte {
	if c.data == nil {
		return resize(text, c.size)
	}
	text = resize(text, max(int64(len(text)), c.off+int64(len(c.data))))
	copy(text[c.off:], c.data)
	return text
}

// resize cuts the text or appends zeros.
func resize(text []byte, size int64) []byte {
	if int64(len(text)) >= size {
		return text[:size]
	}
	return append(text, make([]byte, size-int64(len(text)))...)
}
