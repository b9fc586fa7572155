package disk

import (
	"os"
	"path/filepath"

	"pingpost/fuzz/powerloss/strace"
)

// judge finds out how far a call has come whose process was killed in it.
func (d *Disk) judge(c *strace.Call, h *handle, last int) error {
	done := *c
	done.Done, done.Result = last, 0
	switch c.Name {
	case "open", "openat", "creat":
		path, flags, err := pathAt(c, 0)
		about, gone := os.Lstat(path)
		made := err == nil && gone == nil && d.find(path) == nil
		emptied := err == nil && gone == nil && opens(c, flags, "O_TRUNC") && about.Size() == 0
		if !made && !emptied {
			return err
		}
		done.Result = 1 << 30 // a number that nobody uses
		return d.opened(&done)
	case "mkdir", "mkdirat":
		path, _, err := pathAt(c, 0)
		if _, gone := os.Lstat(path); err != nil || gone != nil || d.find(path) != nil {
			return err
		}
		return d.named(&done)
	case "rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir":
		path, _, err := pathAt(c, 0)
		if _, gone := os.Lstat(path); err != nil || gone == nil || d.find(path) == nil {
			return err
		}
		return d.named(&done)
	case "link", "linkat":
		return d.judgeLink(&done)
	case "copy_file_range":
		return d.halfCopied(&done, h)
	}
	if h == nil || d.pathOf(h.node) == "" {
		return nil // of another disk, or gone with its last name
	}
	switch c.Name {
	case "write", "pwrite64":
		return d.half(&done, h)
	case "ftruncate", "fallocate":
		return d.resized(&done, h)
	}
	return nil
}

// judgeLink follows a second name that was given.
func (d *Disk) judgeLink(c *strace.Call) error {
	_, next, err := pathAt(c, 0)
	if err != nil {
		return err
	}
	path, _, err := pathAt(c, next)
	if _, gone := os.Lstat(path); err != nil || gone != nil || d.find(path) != nil {
		return err
	}
	return d.named(c)
}

// resized follows a change of a file's size that shows in the file.
func (d *Disk) resized(c *strace.Call, h *handle) error {
	about, err := os.Stat(d.pathOf(h.node))
	if err != nil || about.Size() == h.node.size {
		return err
	}
	return d.follow(c, h)
}

// half follows a write of which some arrived: as much as the file has of it.
func (d *Disk) half(c *strace.Call, h *handle) error {
	data, err := c.Text(1)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(d.pathOf(h.node))
	if err != nil {
		return err
	}
	n, off := 0, h.offset(c)
	for n < len(data) && off+int64(n) < int64(len(text)) && data[n] == text[off+int64(n)] {
		n++
	}
	return d.written(c, h, n, span{c.Enter, c.Done})
}

// halfCopied follows a copy of which some arrived, in a file that grew by that.
func (d *Disk) halfCopied(c *strace.Call, from *handle) error {
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
	return d.copied(c, from)
}

// pathOf is some path of a node.
func (d *Disk) pathOf(wanted *node) (path string) {
	var visit func(n *node, at string)
	visit = func(n *node, at string) {
		if n == wanted {
			path = at
		}
		for name, below := range n.names {
			visit(below, filepath.Join(at, name))
		}
	}
	visit(d.root, d.path)
	return path
}
