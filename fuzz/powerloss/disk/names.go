package disk

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"pingpost/fuzz/powerloss/strace"
)

// pathAt is a path that begins at argument arg: of the calls whose names end in
// "at" that is a folder, and the next one a path in it. next is the argument behind.
func pathAt(c *strace.Call, arg int) (path string, next int, err error) {
	base := ""
	if strings.HasSuffix(c.Name, "at") || c.Name == "renameat2" {
		if _, base, err = c.Descriptor(arg); err != nil {
			return "", 0, err
		}
		arg++
	}
	text, err := c.Text(arg)
	if err != nil {
		return "", 0, err
	}
	path = string(text)
	if !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	if !filepath.IsAbs(path) {
		return "", 0, fmt.Errorf("the record does not say in which folder %q is", path)
	}
	return filepath.Clean(path), arg + 1, nil
}

// opened follows a file that was opened, and made or emptied by that.
func (d *Disk) opened(c *strace.Call) error {
	path, flags, err := pathAt(c, 0)
	if err != nil {
		return err
	}
	folder, name := d.place(path)
	n, at := d.find(path), span{c.Enter, c.Done}
	switch {
	case folder == nil && n == nil:
		return nil
	case n == nil && !c.Has(flags, "O_CREAT"):
		return fmt.Errorf("%s was opened, and is not there", path)
	case n == nil:
		n = d.make(false)
		d.calls++
		d.rename(move{span: at, node: n, to: folder, new: name})
	case c.Has(flags, "O_TRUNC"):
		d.change(n, change{span: at, size: 0})
	}
	d.open[int(c.Result)] = &handle{node: n, append: c.Has(flags, "O_APPEND")}
	return nil
}

// named follows what makes, changes and removes names.
func (d *Disk) named(c *strace.Call) error {
	path, next, err := pathAt(c, 0)
	if err != nil {
		return err
	}
	folder, name := d.place(path)
	m := move{span: span{c.Enter, c.Done}, from: folder, old: name, node: d.find(path)}
	switch {
	case strings.HasPrefix(c.Name, "mkdir"):
		m.from, m.to, m.old, m.new, m.node = nil, folder, "", name, nil
		if folder != nil {
			m.node = d.make(true)
		}
	case strings.HasPrefix(c.Name, "rename"), strings.HasPrefix(c.Name, "link"):
		target, _, err := pathAt(c, next)
		if err != nil {
			return err
		}
		m.to, m.new = d.place(target)
		if (m.from == nil) != (m.to == nil) {
			return fmt.Errorf("%s comes from another disk, or goes there, as %s", path, target)
		}
		if strings.HasPrefix(c.Name, "link") {
			m.from, m.old = nil, ""
		}
	}
	if m.from == nil && m.to == nil {
		return nil
	}
	if m.node == nil {
		return fmt.Errorf("%s is not there", path)
	}
	d.calls++
	d.rename(m)
	return nil
}

// judge finds out how far a call has come whose process was killed in it.
func (d *Disk) judge(c *strace.Call, h *handle, last int) error {
	done := *c
	done.Done, done.Result = last, 0
	switch c.Name {
	case "open", "openat", "creat":
		path, flags, err := pathAt(c, 0)
		about, gone := os.Lstat(path)
		made := err == nil && gone == nil && d.find(path) == nil
		emptied := err == nil && gone == nil && c.Has(flags, "O_TRUNC") && about.Size() == 0
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
	case "copy_file_range":
		return d.halfCopied(&done, h)
	case "write":
		if h == nil {
			return nil
		}
		return d.half(&done, h)
	}
	return nil
}

// half follows a write of which some arrived, in a file that grew by that.
func (d *Disk) half(c *strace.Call, h *handle) error {
	data, err := c.Text(1)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(d.pathOf(h.node))
	if err != nil {
		return err
	}
	off := h.at
	if h.append {
		off = h.node.size
	}
	n := min(int64(len(data)), int64(len(text))-off)
	if n <= 0 || !bytes.Equal(text[off:off+n], data[:n]) {
		return nil
	}
	return d.written(c, h, int(n), span{c.Enter, c.Done})
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
