package disk

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"pingpost/fuzz/powerloss/strace"
)

// ApplyCalls applies all calls of one lifetime, up to its last tick. For calls that never ended, it
// looks at the real folder for their effect.
func (d *Disk) ApplyCalls(calls []*strace.Call, lastTick int) error {
	type moment struct {
		tick int
		call *strace.Call
	}
	var moments []moment
	for _, c := range calls {
		if moments = append(moments, moment{c.Enter, c}); c.Done != strace.Never {
			moments = append(moments, moment{c.Done, c})
		}
	}
	slices.SortStableFunc(moments, func(a, b moment) int { return cmp.Compare(a.tick, b.tick) })
	clear(d.open)
	holds := map[*strace.Call]*openFile{}
	for _, m := range moments {
		if m.tick == m.call.Enter {
			holds[m.call] = d.openFileOf(m.call)
			continue
		}
		if m.call.Result < 0 {
			continue
		}
		if err := d.applyCall(m.call, holds[m.call]); err != nil {
			return fmt.Errorf("%s at tick %d: %w", m.call.Name, m.call.Enter, err)
		}
	}
	for _, c := range calls {
		if c.Done == strace.Never {
			if err := d.applyUnfinished(c, holds[c], lastTick); err != nil && !c.Torn { // CompareWithRealFolder reports the effects of a torn call
				return fmt.Errorf("%s at tick %d, which was killed: %w", c.Name, c.Enter, err)
			}
		}
	}
	return nil
}

// openFileOf returns the open file that a call uses, as of the call's start. Another thread may
// reuse the descriptor before close has returned.
func (d *Disk) openFileOf(c *strace.Call) *openFile {
	switch c.Name {
	case "open", "openat", "creat", "rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat",
		"unlink", "unlinkat", "mkdir", "mkdirat", "rmdir", "truncate", "sync":
		return nil
	}
	fd, _, err := c.Descriptor(0)
	if err != nil {
		return nil
	}
	h := d.open[fd]
	if c.Name == "close" {
		delete(d.open, fd)
	}
	return h
}

// applyCall applies a call that ended.
func (d *Disk) applyCall(c *strace.Call, h *openFile) error {
	switch c.Name {
	case "open", "openat", "creat":
		return d.applyOpen(c)
	case "mkdir", "mkdirat", "rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir", "link", "linkat":
		return d.applyNameCall(c)
	case "copy_file_range":
		return d.applyCopy(c, h)
	case "sync", "syncfs":
		return nil // promises more, but the exchange does not rely on it
	case "symlink", "symlinkat", "truncate":
		return d.rejectUnsupportedCall(c)
	}
	if h == nil {
		if strings.HasPrefix(c.Name, "dup") {
			delete(d.open, int(c.Result))
		}
		return nil
	}
	switch at := (callSpan{c.Enter, c.Done}); c.Name {
	case "write", "pwrite64":
		return d.applyWrite(c, h, int(c.Result), at)
	case "ftruncate":
		size, _ := c.NumberArg(1)
		d.addChange(h.node, fileChange{callSpan: at, size: size})
	case "fallocate":
		return d.applyFallocate(c, h, at)
	case "fsync", "fdatasync":
		d.calls++
		h.node.syncs = append(h.node.syncs, at)
	case "sync_file_range":
		d.calls++
	case "lseek":
		h.at = c.Result
	case "close":
	case "dup", "dup2", "dup3":
		d.open[int(c.Result)] = h
	default:
		return fmt.Errorf("the model does not support this call on a file")
	}
	return nil
}

func (d *Disk) addChange(n *node, c fileChange) {
	d.calls++
	n.addChange(c)
}

// applyWrite applies the first n bytes of a write.
func (d *Disk) applyWrite(c *strace.Call, h *openFile, byteCount int, at callSpan) error {
	data, err := c.StringArg(1)
	if err != nil {
		return err
	}
	if byteCount == 0 {
		return nil
	}
	off := h.writeOffset(c)
	if c.Name != "pwrite64" {
		h.at = off + int64(byteCount)
	}
	d.addChange(h.node, fileChange{callSpan: at, off: off, data: data[:byteCount]})
	return nil
}

// writeOffset returns the position of a write.
func (h *openFile) writeOffset(c *strace.Call) int64 {
	switch {
	case c.Name == "pwrite64":
		off, _ := c.NumberArg(3)
		return off
	case h.append:
		return h.node.size
	}
	return h.at
}

// applyFallocate applies an fallocate that only extends the file by zeros.
func (d *Disk) applyFallocate(c *strace.Call, h *openFile, at callSpan) error {
	off, _ := c.NumberArg(2)
	size, known := c.NumberArg(3)
	if !known || c.Args[1] != "0" {
		return fmt.Errorf("the model does not support fallocate with %s", c.Args[1])
	}
	d.addChange(h.node, fileChange{callSpan: at, size: max(h.node.size, off+size)})
	return nil
}

// applyCopy applies a copy between files.
func (d *Disk) applyCopy(c *strace.Call, from *openFile) error {
	fd, _, err := c.Descriptor(2)
	if err != nil {
		return err
	}
	to := d.open[fd]
	if to == nil || c.Result == 0 {
		return nil
	}
	if from == nil || c.Args[1] != "NULL" || c.Args[3] != "NULL" || from.at+c.Result > from.node.size {
		return fmt.Errorf("the model supports only copies between files of this disk, at their current offsets")
	}
	text := contentAfter(from.node.changes)[from.at:][:c.Result]
	d.addChange(to.node, fileChange{callSpan: callSpan{c.Enter, c.Done}, off: to.at, data: text})
	from.at, to.at = from.at+c.Result, to.at+c.Result
	return nil
}

// rejectUnsupportedCall returns an error if an unsupported call concerns this disk.
func (d *Disk) rejectUnsupportedCall(c *strace.Call) error {
	for arg := range c.Args {
		if text, err := c.StringArg(arg); err == nil && filepath.IsAbs(string(text)) && d.lookUp(string(text)) != nil {
			return fmt.Errorf("the model does not support this call on %s", text)
		}
	}
	return nil
}
