package disk

import (
	"os"

	"pingpost/fuzz/powerloss/strace"
)

// applyUnfinished finds out how much effect a call had whose process was killed during it, and
// applies that.
func (d *Disk) applyUnfinished(c *strace.Call, h *openFile, lastTick int) error {
	done := *c
	done.Done, done.Result = lastTick, 0
	switch c.Name {
	case "open", "openat", "creat":
		path, flags, err := pathArg(c, 0)
		about, gone := os.Lstat(path)
		made := err == nil && gone == nil && d.lookUp(path) == nil
		emptied := err == nil && gone == nil && hasOpenFlag(c, flags, "O_TRUNC") && about.Size() == 0
		if !made && !emptied {
			return err
		}
		done.Result = 1 << 30 // a descriptor that is never used
		return d.applyOpen(&done)
	case "mkdir", "mkdirat":
		path, _, err := pathArg(c, 0)
		if _, gone := os.Lstat(path); err != nil || gone != nil || d.lookUp(path) != nil {
			return err
		}
		return d.applyNameCall(&done)
	case "rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir":
		path, _, err := pathArg(c, 0)
		if _, gone := os.Lstat(path); err != nil || gone == nil || d.lookUp(path) == nil {
			return err
		}
		return d.applyNameCall(&done)
	case "link", "linkat":
		return d.applyUnfinishedLink(&done)
	case "copy_file_range":
		return d.applyUnfinishedCopy(&done, h)
	}
	if h == nil || d.pathOf(h.node) == "" {
		return nil // on another disk, or its last name is gone
	}
	switch c.Name {
	case "write", "pwrite64":
		return d.applyUnfinishedWrite(&done, h)
	case "ftruncate", "fallocate":
		return d.applyUnfinishedResize(&done, h)
	}
	return nil
}

// applyUnfinishedLink applies a link that took effect.
func (d *Disk) applyUnfinishedLink(c *strace.Call) error {
	_, next, err := pathArg(c, 0)
	if err != nil {
		return err
	}
	path, _, err := pathArg(c, next)
	if _, gone := os.Lstat(path); err != nil || gone != nil || d.lookUp(path) != nil {
		return err
	}
	return d.applyNameCall(c)
}

// applyUnfinishedResize applies a change of size that the file shows.
func (d *Disk) applyUnfinishedResize(c *strace.Call, h *openFile) error {
	about, err := os.Stat(d.pathOf(h.node))
	if err != nil || about.Size() == h.node.size {
		return err
	}
	return d.applyCall(c, h)
}

// applyUnfinishedWrite applies the part of a write that the file shows.
func (d *Disk) applyUnfinishedWrite(c *strace.Call, h *openFile) error {
	data, err := c.StringArg(1)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(d.pathOf(h.node))
	if err != nil {
		return err
	}
	n, off := 0, h.writeOffset(c)
	for n < len(data) && off+int64(n) < int64(len(text)) && data[n] == text[off+int64(n)] {
		n++
	}
	return d.applyWrite(c, h, n, callSpan{c.Enter, c.Done})
}

// applyUnfinishedCopy applies the part of a copy by which the file grew.
func (d *Disk) applyUnfinishedCopy(c *strace.Call, from *openFile) error {
	fd, _, err := c.Descriptor(2)
	to := d.open[fd]
	if err != nil || to == nil {
		return err
	}
	about, err := os.Stat(d.pathOf(to.node))
	if err != nil {
		return err
	}
	c.Result = max(0, about.Size()-to.at)
	return d.applyCopy(c, from)
}

// pathOf returns a path of the node, or "".
func (d *Disk) pathOf(wanted *node) (path string) {
	d.visitLive(func(n *node, at string) {
		if n == wanted {
			path = at
		}
	})
	return path
}
