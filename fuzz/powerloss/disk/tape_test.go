package disk

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pingpost/fuzz/powerloss/strace"
)

// tape makes up what a process asked of a folder, in few words.
type tape struct {
	t     testing.TB
	dir   string
	disk  *Disk
	calls []*strace.Call
	tick  int
}

func newTape(t testing.TB) *tape {
	t.Helper()
	tp := &tape{t: t, dir: t.TempDir(), tick: 10}
	var err error
	if tp.disk, err = Load(tp.dir); err != nil {
		t.Fatal(err)
	}
	return tp
}

func hexed(text string) string {
	var out strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&out, `\x%02x`, text[i])
	}
	return out.String()
}

func quoted(text string) string { return `"` + hexed(text) + `"` }

func (tp *tape) at(path string) string {
	return quoted(filepath.Join(tp.dir, path))
}

const here = "AT_FDCWD<>"

// call is one that begins and has happened before the next begins.
func (tp *tape) call(result int64, name string, args ...string) *strace.Call {
	c := &strace.Call{Name: name, Args: args, Result: result, Enter: tp.tick, Done: tp.tick + 1}
	tp.tick += 2
	tp.calls = append(tp.calls, c)
	return c
}

func (tp *tape) create(fd int, path string) {
	tp.call(int64(fd), "openat", here, tp.at(path), "O_RDWR|O_CREAT|O_TRUNC", "0600")
}

func (tp *tape) open(fd int, path, flags string) {
	tp.call(int64(fd), "openat", here, tp.at(path), flags)
}

func (tp *tape) write(fd int, text string) *strace.Call {
	return tp.call(int64(len(text)), "write", fmt.Sprint(fd), quoted(text), fmt.Sprint(len(text)))
}

func (tp *tape) sync(fd int)   { tp.call(0, "fsync", fmt.Sprint(fd)) }
func (tp *tape) closes(fd int) { tp.call(0, "close", fmt.Sprint(fd)) }

// syncDir makes a folder's entries durable.
func (tp *tape) syncDir(path string) {
	tp.open(99, path, "O_RDONLY")
	tp.sync(99)
	tp.closes(99)
}

func (tp *tape) mkdir(path string)  { tp.call(0, "mkdirat", here, tp.at(path), "0700") }
func (tp *tape) unlink(path string) { tp.call(0, "unlinkat", here, tp.at(path), "0") }
func (tp *tape) rename(from, to string) {
	tp.call(0, "renameat", here, tp.at(from), here, tp.at(to))
}

// durable writes a file that nothing takes away.
func (tp *tape) durable(path, text string) {
	tp.create(50, path)
	tp.write(50, text)
	tp.sync(50)
	tp.closes(50)
	tp.syncDir(filepath.Dir(path))
}

// follow shows the model all of it.
func (tp *tape) follow() {
	tp.t.Helper()
	if err := tp.disk.Follow(tp.calls, tp.tick); err != nil {
		tp.t.Fatal(err)
	}
	tp.calls = nil
}

// live is the folder as the process sees it: a line for each file.
func (tp *tape) live() string {
	tp.follow()
	var lines []string
	var visit func(n *node, at string)
	visit = func(n *node, at string) {
		for name, below := range n.names {
			if below.folder {
				visit(below, at+name+"/")
				continue
			}
			lines = append(lines, at+name+"="+string(content(below.changes)))
		}
	}
	visit(tp.disk.root, "")
	slices.Sort(lines)
	return strings.Join(lines, " ")
}

// left are all folders that many losses at a tick leave, each with how often.
func (tp *tape) left(at int) map[string]int {
	tp.t.Helper()
	all := map[string]int{}
	for seed := range uint64(600) {
		all[tp.after(at, seed)]++
	}
	return all
}

// after is the folder after one loss.
func (tp *tape) after(at int, seed uint64) string {
	return tp.disk.Lose(at, rand.New(rand.NewPCG(seed, 0))).listing()
}

// listing is a line for each file, as listing has them of a real folder.
func (m *Image) listing() string {
	var lines []string
	var visit func(n *node, at string)
	visit = func(n *node, at string) {
		for name, below := range m.names[n] {
			if below.folder {
				visit(below, at+name+"/")
				continue
			}
			lines = append(lines, at+name+"="+string(m.texts[below]))
		}
	}
	visit(m.root, "")
	slices.Sort(lines)
	return strings.Join(lines, " ")
}

// listing is a line for each file of a real folder.
func listing(t testing.TB, dir string) string {
	t.Helper()
	var lines []string
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		lines = append(lines, name+"="+string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, " ")
}

// are holds what is left against what may be; each of them has to come.
func are(t *testing.T, left map[string]int, may ...string) {
	t.Helper()
	for folder := range left {
		if !slices.Contains(may, folder) {
			t.Errorf("this cannot be: %q", folder)
		}
	}
	for _, folder := range may {
		if left[folder] == 0 {
			t.Errorf("this can be and never comes: %q", folder)
		}
	}
}
