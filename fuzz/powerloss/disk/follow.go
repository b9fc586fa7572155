package disk

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"pingpost/fuzz/powerloss/strace"
)

// Follow is told all calls of one life of a process. Those that never ended are
// judged by what the real folder shows of them; last is the tick of the life's end.
func (d *Disk) Follow(calls []*strace.Call, last int) error {
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
	holds := map[*strace.Call]*handle{}
	for _, m := range moments {
		if m.tick == m.call.Enter {
			holds[m.call] = d.hold(m.call)
			continue
		}
		if m.call.Result < 0 {
			continue
		}
		if err := d.follow(m.call, holds[m.call]); err != nil {
			return fmt.Errorf("%s at tick %d: %w", m.call.Name, m.call.Enter, err)
		}
	}
	for _, c := range calls {
		if c.Done == strace.Never {
			if err := d.judge(c, holds[c], last); err != nil && !c.Torn { // of one that is torn Compare tells
				return fmt.Errorf("%s at tick %d, which never ended: %w", c.Name, c.Enter, err)
			}
		}
	}
	return nil
}

// hold is the open file that a call is about, as it was when the call began. A
// number may be another file's before close has returned.
func (d *Disk) hold(c *strace.Call) *handle {
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

// follow shows a call that has happened.
func (d *Disk) follow(c *strace.Call, h *handle) error {
	switch c.Name {
	case "open", "openat", "creat":
		return d.opened(c)
	case "mkdir", "mkdirat", "rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir", "link", "linkat":
		return d.named(c)
	case "copy_file_range":
		return d.copied(c, h)
	case "sync", "syncfs":
		return nil // promises enough, and is not asked for
	case "symlink", "symlinkat", "truncate":
		return d.foreign(c)
	}
	if h == nil {
		if strings.HasPrefix(c.Name, "dup") {
			delete(d.open, int(c.Result))
		}
		return nil
	}
	switch at := (span{c.Enter, c.Done}); c.Name {
	case "write", "pwrite64":
		return d.written(c, h, int(c.Result), at)
	case "ftruncate":
		size, _ := c.Number(1)
		d.change(h.node, change{span: at, size: size})
	case "fallocate":
		return d.reserved(c, h, at)
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
		return fmt.Errorf("the model does not know what this does to a file")
	}
	return nil
}

func (d *Disk) change(n *node, c change) {
	d.calls++
	n.write(c)
}

// written is told how many bytes of a write arrived.
func (d *Disk) written(c *strace.Call, h *handle, n int, at span) error {
	data, err := c.Text(1)
	if err != nil {
		return err
	}
	if n == 0 {
		return nil
	}
	off := h.offset(c)
	if c.Name != "pwrite64" {
		h.at = off + int64(n)
	}
	d.change(h.node, change{span: at, off: off, data: data[:n]})
	return nil
}

// offset is where a write goes.
func (h *handle) offset(c *strace.Call) int64 {
	switch {
	case c.Name == "pwrite64":
		off, _ := c.Number(3)
		return off
	case h.append:
		return h.node.size
	}
	return h.at
}

// reserved is told of room that was set aside: zeros, where that is all it did.
func (d *Disk) reserved(c *strace.Call, h *handle, at span) error {
	off, _ := c.Number(2)
	size, known := c.Number(3)
	if !known || c.Args[1] != "0" {
		return fmt.Errorf("the model does not know fallocate with %s", c.Args[1])
	}
	d.change(h.node, change{span: at, size: max(h.node.size, off+size)})
	return nil
}

// copied is told what one file got of another.
func (d *Disk) copied(c *strace.Call, from *handle) error {
	fd, _, err := c.Descriptor(2)
	if err != nil {
		return err
	}
	to := d.open[fd]
	if to == nil || c.Result == 0 {
		return nil
	}
	if from == nil || c.Args[1] != "NULL" || c.Args[3] != "NULL" || from.at+c.Result > from.node.size {
		return fmt.Errorf("only a whole file of the same disk, from its beginning, is followed")
	}
	text := content(from.node.changes)[from.at:][:c.Result]
	d.change(to.node, change{span: span{c.Enter, c.Done}, off: to.at, data: text})
	from.at, to.at = from.at+c.Result, to.at+c.Result
	return nil
}

// foreign refuses what the model does not know, where it is about this disk.
func (d *Disk) foreign(c *strace.Call) error {
	for arg := range c.Args {
		if text, err := c.Text(arg); err == nil && filepath.IsAbs(string(text)) && d.find(string(text)) != nil {
			return fmt.Errorf("the model does not know what this does to %s", text)
		}
	}
	return nil
}
