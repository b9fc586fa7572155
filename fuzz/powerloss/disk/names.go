package disk

import (
	"fmt"
	"path/filepath"
	"strings"

	"pingpost/fuzz/powerloss/strace"
)

// pathArg returns the path in argument arg. For calls with names that end in "at", that argument is
// a directory and the next one a path in it. nextArg is the argument after the path.
func pathArg(c *strace.Call, arg int) (path string, nextArg int, err error) {
	base := ""
	if strings.HasSuffix(c.Name, "at") && c.Name != "creat" || c.Name == "renameat2" {
		if _, base, err = c.Descriptor(arg); err != nil {
			return "", 0, err
		}
		arg++
	}
	text, err := c.StringArg(arg)
	if err != nil {
		return "", 0, err
	}
	path = string(text)
	if !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	if !filepath.IsAbs(path) {
		return "", 0, fmt.Errorf("the record does not contain the directory of %q", path)
	}
	return filepath.Clean(path), arg + 1, nil
}

// hasOpenFlag reports whether an open call has the flag. creat implies O_CREAT and O_TRUNC.
func hasOpenFlag(c *strace.Call, flagsArg int, flag string) bool {
	return c.Name == "creat" || c.HasFlag(flagsArg, flag)
}

// applyOpen applies an open, which may create or truncate the file.
func (d *Disk) applyOpen(c *strace.Call) error {
	path, flags, err := pathArg(c, 0)
	if err != nil {
		return err
	}
	folder, name := d.parentOf(path)
	n, at := d.lookUp(path), callSpan{c.Enter, c.Done}
	switch {
	case folder == nil && n == nil:
		return nil
	case n == nil && !hasOpenFlag(c, flags, "O_CREAT"):
		return fmt.Errorf("%s was opened, but the model has no such file", path)
	case n == nil:
		n = d.newNode(false)
		d.calls++
		d.applyNameChange(nameChange{callSpan: at, node: n, to: folder, new: name})
	case hasOpenFlag(c, flags, "O_TRUNC"):
		d.addChange(n, fileChange{callSpan: at, size: 0})
	}
	d.open[int(c.Result)] = &openFile{node: n, append: c.HasFlag(flags, "O_APPEND")}
	return nil
}

// applyNameCall applies calls that create, change or remove names.
func (d *Disk) applyNameCall(c *strace.Call) error {
	path, next, err := pathArg(c, 0)
	if err != nil {
		return err
	}
	folder, name := d.parentOf(path)
	m := nameChange{callSpan: callSpan{c.Enter, c.Done}, from: folder, old: name, node: d.lookUp(path)}
	switch {
	case strings.HasPrefix(c.Name, "mkdir"):
		m.from, m.to, m.old, m.new, m.node = nil, folder, "", name, nil
		if folder != nil {
			m.node = d.newNode(true)
		}
	case strings.HasPrefix(c.Name, "rename"), strings.HasPrefix(c.Name, "link"):
		target, _, err := pathArg(c, next)
		if err != nil {
			return err
		}
		m.to, m.new = d.parentOf(target)
		if (m.from == nil) != (m.to == nil) {
			return fmt.Errorf("%s is renamed or linked across disks, to %s", path, target)
		}
		if strings.HasPrefix(c.Name, "link") {
			m.from, m.old = nil, ""
		}
	}
	if m.from == nil && m.to == nil {
		return nil
	}
	if m.node == nil {
		return fmt.Errorf("the model has no %s", path)
	}
	d.calls++
	d.applyNameChange(m)
	return nil
}
