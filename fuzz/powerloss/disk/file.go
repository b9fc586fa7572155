package disk

import "slices"

// pageSize is how much the disk takes at once, if it is not torn.
const pageSize = 4096

// span is when a call began and when it had happened.
type span struct{ enter, done int }

// change is a write to a file, or where data is nil the setting of its size.
type change struct {
	span
	off  int64
	data []byte
	size int64
}

// node is a file or a folder, whatever names it has.
type node struct {
	id      int
	folder  bool
	syncs   []span
	changes []change // of a file, in the order in which they had happened
	size    int64    // of a file, as the process sees it

	names map[string]*node // of a folder, as the process sees it
}

// write notes a change that has happened.
func (n *node) write(c change) {
	n.changes = append(n.changes, c)
	n.size = c.after(n.size)
}

// after is the size of a file that had size before.
func (c *change) after(size int64) int64 {
	if c.data == nil {
		return c.size
	}
	return max(size, c.off+int64(len(c.data)))
}

// syncedUpTo is when the last fsync began that had returned at a tick: what had
// happened before it is durable.
func (n *node) syncedUpTo(at int) (tick int) {
	for i := range n.syncs {
		if n.syncs[i].done <= at {
			tick = max(tick, n.syncs[i].enter)
		}
	}
	return tick
}

// covered tells whether what had happened at done is durable at the tick at.
func (n *node) covered(done, at int) bool { return done < n.syncedUpTo(at) }

// durable is how many of a file's changes are, at a tick. They are the first ones.
func (n *node) durable(at int) int {
	upTo := n.syncedUpTo(at)
	count, _ := slices.BinarySearchFunc(n.changes, upTo, func(c change, upTo int) int { return c.done - upTo })
	return count
}

// content is a file after the changes that are given, as the process sees it.
func content(changes []change) []byte {
	var text []byte
	for i := range changes {
		text = changes[i].apply(text)
	}
	return text
}

func (c *change) apply(text []byte) []byte {
	if c.data == nil {
		return resize(text, c.size)
	}
	text = resize(text, max(int64(len(text)), c.off+int64(len(c.data))))
	copy(text[c.off:], c.data)
	return text
}

// resize cuts, or puts zeros behind.
func resize(text []byte, size int64) []byte {
	if int64(len(text)) >= size {
		return text[:size]
	}
	return append(text, make([]byte, size-int64(len(text)))...)
}
