package disk

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Disk models a folder with everything below it. One goroutine applies the calls; afterwards
// many goroutines may call LosePower.
type Disk struct {
	path        string // path of the folder
	root        *node
	nodes       []*node
	nameChanges []nameChange // in the order in which they took effect
	open        map[int]*openFile
	calls       int // calls that changed something or made it durable
}

// openFile is an open file.
type openFile struct {
	node   *node
	at     int64
	append bool
}

// nameChange is a change of names: a node gets a name, loses one, or is renamed.
type nameChange struct {
	callSpan
	node     *node
	from, to *node // directories; nil: no name before, or no name after
	old, new string
}

// Load returns a disk with the folder's present content, all of it durable.
func Load(path string) (*Disk, error) {
	d := &Disk{path: path, open: map[int]*openFile{}}
	d.root = d.newNode(true)
	err := d.visitRealFolder(func(folder *node, name string, isFolder bool, text []byte) {
		n := d.newNode(isFolder)
		if !isFolder {
			n.addChange(fileChange{data: text})
			n.syncs = []callSpan{{1, 1}}
		}
		d.nameChanges = append(d.nameChanges, nameChange{node: n, to: folder, new: name})
		folder.names[name] = n
	})
	for _, n := range d.nodes {
		n.syncs = []callSpan{{1, 1}}
	}
	return d, err
}

func (d *Disk) newNode(folder bool) *node {
	n := &node{id: len(d.nodes), isFolder: folder}
	if folder {
		n.names = map[string]*node{}
	}
	d.nodes = append(d.nodes, n)
	return n
}

// visitRealFolder visits the real folder.
func (d *Disk) visitRealFolder(each func(folder *node, name string, isFolder bool, text []byte)) error {
	return filepath.WalkDir(d.path, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == d.path {
			return err
		}
		folder, name := d.lookUp(filepath.Dir(path)), filepath.Base(path)
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

// lookUp returns the node of a path, or nil if it is missing or on another disk.
func (d *Disk) lookUp(path string) *node {
	rest, ours := strings.CutPrefix(path, d.path)
	if !ours || (rest != "" && rest[0] != '/') {
		return nil
	}
	n := d.root
	for name := range strings.SplitSeq(strings.Trim(rest, "/"), "/") {
		if name == "" || name == "." {
			continue
		}
		if n == nil || !n.isFolder {
			return nil
		}
		n = n.names[name]
	}
	return n
}

// parentOf returns the directory and the last name of a path.
func (d *Disk) parentOf(path string) (folder *node, name string) {
	folder = d.lookUp(filepath.Dir(path))
	if folder == nil || !folder.isFolder || path == d.path {
		return nil, ""
	}
	return folder, filepath.Base(path)
}

// applyNameChange records a change of names and updates the live view.
func (d *Disk) applyNameChange(m nameChange) {
	if m.from != nil {
		delete(m.from.names, m.old)
	}
	if m.to != nil {
		m.to.names[m.new] = m.node
	}
	d.nameChanges = append(d.nameChanges, m)
}

// RelevantCallCount returns the number of calls that changed the folder or made it durable.
func (d *Disk) RelevantCallCount() int { return d.calls }

// CompareWithRealFolder returns an error if the real folder differs from the live view.
func (d *Disk) CompareWithRealFolder() error {
	var wrong []string
	seen := map[*node]int{}
	err := d.visitRealFolder(func(folder *node, name string, isFolder bool, text []byte) {
		n := folder.names[name]
		seen[folder]++
		switch {
		case n == nil || n.isFolder != isFolder:
			wrong = append(wrong, name+" should not exist")
		case !isFolder && string(contentAfter(n.changes)) != string(text):
			wrong = append(wrong, fmt.Sprintf("%s has %d bytes, but the model has %d", name, len(text), n.size))
		}
	})
	if err != nil {
		return err
	}
	d.visitLive(func(n *node, path string) {
		if n.isFolder && seen[n] != len(n.names) {
			wrong = append(wrong, fmt.Sprintf("directory %s has %d names, but the model has %d", path, seen[n], len(n.names)))
		}
	})
	if len(wrong) > 0 {
		return fmt.Errorf("the model differs from the real folder: %s", strings.Join(wrong, "; "))
	}
	return nil
}

// visitNames visits a node and all nodes below it, in the order of their names. namesIn returns
// the names in a directory.
func visitNames(n *node, path string, namesIn func(*node) map[string]*node, each func(n *node, path string)) {
	each(n, path)
	names := namesIn(n)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		visitNames(names[name], filepath.Join(path, name), namesIn, each)
	}
}

// visitLive visits all nodes with a name in the live view.
func (d *Disk) visitLive(each func(n *node, path string)) {
	visitNames(d.root, d.path, func(n *node) map[string]*node { return n.names }, each)
}

// ActiveTicks returns the ticks after the given one at which the folder, or its durable state,
// changes. rare are the ticks of name changes, and of changes to files and directories that
// change seldom.
func (d *Disk) ActiveTicks(after int) (all, rare []int) {
	add := func(s callSpan, often bool) {
		for _, tick := range []int{s.enter, s.done - 1, s.done} {
			if tick <= after {
				continue
			}
			if all = append(all, tick); !often {
				rare = append(rare, tick)
			}
		}
	}
	for i := range d.nameChanges {
		add(d.nameChanges[i].callSpan, false)
	}
	for _, n := range d.nodes {
		often := len(n.changes) > 40
		for i := range n.changes {
			add(n.changes[i].callSpan, often)
		}
		for _, s := range n.syncs {
			add(s, often)
		}
	}
	return all, rare
}
