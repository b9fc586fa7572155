package disk

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Disk is a folder and all that is below it. One goroutine tells it what
// happens; Lose may then be called by many.
type Disk struct {
	path  string // of the folder
	root  *node
	nodes []*node
	moves []move // changes of names, in the order in which they had happened
	open  map[int]*handle
	calls int // that changed something, or made it durable
}

// handle is an open file's.
type handle struct {
	node   *node
	at     int64
	append bool
}

// move is a change of names: a name that a node gets, a name that goes, or one
// that becomes another.
type move struct {
	span
	node     *node
	from, to *node // folders; nil: the node had no name before, or has none after
	old, new string
}

// Load is a disk on which a folder is as it lies there, durably.
func Load(path string) (*Disk, error) {
	d := &Disk{path: path, open: map[int]*handle{}}
	d.root = d.make(true)
	err := d.walk(func(folder *node, name string, isFolder bool, text []byte) {
		n := d.make(isFolder)
		if !isFolder {
			n.write(change{data: text})
			n.syncs = []span{{1, 1}}
		}
		d.moves = append(d.moves, move{node: n, to: folder, new: name})
		folder.names[name] = n
	})
	for _, n := range d.nodes {
		n.syncs = []span{{1, 1}}
	}
	return d, err
}

func (d *Disk) make(folder bool) *node {
	n := &node{id: len(d.nodes), folder: folder}
	if folder {
		n.names = map[string]*node{}
	}
	d.nodes = append(d.nodes, n)
	return n
}

// walk goes through the real folder.
func (d *Disk) walk(each func(folder *node, name string, isFolder bool, text []byte)) error {
	return filepath.WalkDir(d.path, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == d.path {
			return err
		}
		folder, name := d.find(filepath.Dir(path)), filepath.Base(path)
		if folder == nil {
			return fmt.Errorf("%s: the model has no such folder", filepath.Dir(path))
		}
		if entry.IsDir() {
			each(folder, name, true, nil)
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil {
			each(folder, name, false, slices.Grow(text, 1))
		}
		return err
	})
}

// find is what a path names; nil: nothing, or what is not on this disk.
func (d *Disk) find(path string) *node {
	rest, ours := strings.CutPrefix(path, d.path)
	if !ours || (rest != "" && rest[0] != '/') {
		return nil
	}
	n := d.root
	for name := range strings.SplitSeq(strings.Trim(rest, "/"), "/") {
		if name == "" || name == "." {
			continue
		}
		if n == nil || !n.folder {
			return nil
		}
		n = n.names[name]
	}
	return n
}

// place is the folder in which a path's last name is.
func (d *Disk) place(path string) (folder *node, name string) {
	folder = d.find(filepath.Dir(path))
	if folder == nil || !folder.folder || path == d.path {
		return nil, ""
	}
	return folder, filepath.Base(path)
}

// rename notes that a name has changed, come or gone, and shows it.
func (d *Disk) rename(m move) {
	if m.from != nil {
		delete(m.from.names, m.old)
	}
	if m.to != nil {
		m.to.names[m.new] = m.node
	}
	d.moves = append(d.moves, m)
}

// Calls is how many calls it was told that changed the folder or made it durable.
func (d *Disk) Calls() int { return d.calls }

// Compare tells where the real folder is not as the process should see it.
func (d *Disk) Compare() error {
	var wrong []string
	seen := map[*node]int{}
	err := d.walk(func(folder *node, name string, isFolder bool, text []byte) {
		n := folder.names[name]
		seen[folder]++
		switch {
		case n == nil || n.folder != isFolder:
			wrong = append(wrong, name+" should not be there")
		case !isFolder && string(content(n.changes)) != string(text):
			wrong = append(wrong, fmt.Sprintf("%s has %d bytes, and not the %d that were written", name, len(text), n.size))
		}
	})
	if err != nil {
		return err
	}
	for n := range d.reached() {
		if n.folder && seen[n] != len(n.names) {
			wrong = append(wrong, fmt.Sprintf("a folder has %d names and should have %d", seen[n], len(n.names)))
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("the model has not followed: %s", strings.Join(wrong, "; "))
	}
	return nil
}

// reached are the nodes that have a name.
func (d *Disk) reached() map[*node]bool {
	all := map[*node]bool{d.root: true}
	var visit func(n *node)
	visit = func(n *node) {
		for _, below := range n.names {
			all[below] = true
			visit(below)
		}
	}
	visit(d.root)
	return all
}

// Moments are the ticks behind one at which the folder, or what is durable of it,
// was about to change or had changed. Rare are those of changes of names, and of
// files and folders that are not written to again and again.
func (d *Disk) Moments(after int) (all, rare []int) {
	add := func(s span, often bool) {
		for _, tick := range []int{s.enter, s.done - 1, s.done} {
			if tick <= after {
				continue
			}
			if all = append(all, tick); !often {
				rare = append(rare, tick)
			}
		}
	}
	for i := range d.moves {
		add(d.moves[i].span, false)
	}
	for _, n := range d.nodes {
		often := len(n.changes) > 40
		for i := range n.changes {
			add(n.changes[i].span, often)
		}
		for _, s := range n.syncs {
			add(s, often)
		}
	}
	return all, rare
}
