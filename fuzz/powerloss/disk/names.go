package disk

import (
	"fmt"
	"path/filepath"
	"strings"

	"pingpost/fuzz/powerloss/strace"
)

// pathAt is a path that begins at argument arg: of the calls whose names end in
// "at" that is a folder, and the next one a path in it. next is the argument behind.
func pathAt(c *strace.Call, arg int) (path string, next int, err error) {
	base := ""
	if strings.HasSuffix(c.Name, "at") && c.Name != "creat" || c.Name == "renameat2" {
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

// opens tells whether a file is opened so; the older creat says neither, and does both.
func opens(c *strace.Call, flags int, how string) bool { return c.Name == "creat" || c.Has(flags, how) }

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
	case n == nil && !opens(c, flags, "O_CREAT"):
		return fmt.Errorf("%s was opened, and is not there", path)
	case n == nil:
		n = d.make(false)
		d.calls++
		d.rename(move{span: at, node: n, to: folder, new: name})
	case opens(c, flags, "O_TRUNC"):
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
