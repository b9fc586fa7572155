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
	"pingpost/internal/must"
)

// callBuilder builds a sequence of recorded calls in a few words.
type callBuilder struct {
	t     testing.TB
	dir   string
	disk  *Disk
	calls []*strace.Call
	tick  int
}

func newCallBuilder(t testing.TB) *callBuilder {
	t.Helper()
	tp := &callBuilder{t: t, dir: t.TempDir(), tick: 10}
	var err error
	if tp.disk, err = Load(tp.dir); err != nil {
		t.Fatal(err)
	}
	return tp
}

func hexed(text string) string {
	return strings.ReplaceAll(strings.TrimRight(fmt.Sprintf(" % x", text), " "), " ", `\x`)
}

func quoted(text string) string { return `"` + hexed(text) + `"` }

func (tp *callBuilder) quotedPath(path string) string {
	return quoted(filepath.Join(tp.dir, path))
}

const workingDir = "AT_FDCWD<>"

// call adds a call that ends before the next one begins.
func (tp *callBuilder) call(result int64, name string, args ...string) *strace.Call {
	c := &strace.Call{Name: name, Args: args, Result: result, Enter: tp.tick, Done: tp.tick + 1}
	tp.tick += 2
	tp.calls = append(tp.calls, c)
	return c
}

func (tp *callBuilder) create(fd int, path string) {
	tp.call(int64(fd), "openat", workingDir, tp.quotedPath(path), "O_RDWR|O_CREAT|O_TRUNC", "0600")
}

func (tp *callBuilder) open(fd int, path, flags string) {
	tp.call(int64(fd), "openat", workingDir, tp.quotedPath(path), flags)
}

func (tp *callBuilder) write(fd int, text string) *strace.Call {
	return tp.call(int64(len(text)), "write", fmt.Sprint(fd), quoted(text), fmt.Sprint(len(text)))
}

func (tp *callBuilder) sync(fd int)      { tp.call(0, "fsync", fmt.Sprint(fd)) }
func (tp *callBuilder) closeFile(fd int) { tp.call(0, "close", fmt.Sprint(fd)) }

// syncDir makes a directory's entries durable.
func (tp *callBuilder) syncDir(path string) {
	tp.open(99, path, "O_RDONLY")
	tp.sync(99)
	tp.closeFile(99)
}

func (tp *callBuilder) mkdir(path string) {
	tp.call(0, "mkdirat", workingDir, tp.quotedPath(path), "0700")
}

func (tp *callBuilder) unlink(path string) {
	tp.call(0, "unlinkat", workingDir, tp.quotedPath(path), "0")
}

func (tp *callBuilder) rename(from, to string) {
	tp.call(0, "renameat", workingDir, tp.quotedPath(from), workingDir, tp.quotedPath(to))
}

// createDurable writes a file and makes it and its name durable.
func (tp *callBuilder) createDurable(path, text string) {
	tp.create(50, path)
	tp.write(50, text)
	tp.sync(50)
	tp.closeFile(50)
	tp.syncDir(filepath.Dir(path))
}

// follow applies all calls to the model.
func (tp *callBuilder) follow() {
	tp.t.Helper()
	must.Succeed(tp.t, tp.disk.ApplyCalls(tp.calls, tp.tick))
	tp.calls = nil
}

// liveListing lists the files as the process sees them.
func (tp *callBuilder) liveListing() string {
	tp.follow()
	var lines []string
	tp.disk.visitLive(func(n *node, path string) {
		if !n.isFolder {
			lines = append(lines, strings.TrimPrefix(path, tp.dir+"/")+"="+string(contentAfter(n.changes)))
		}
	})
	return strings.Join(lines, " ")
}

// listingsAfterLoss counts the different folders that 600 losses at a tick leave.
func (tp *callBuilder) listingsAfterLoss(at int) map[string]int {
	tp.t.Helper()
	all := map[string]int{}
	for seed := range uint64(600) {
		all[tp.listingAfterLoss(at, seed)]++
	}
	return all
}

// listingAfterLoss lists the folder after one loss.
func (tp *callBuilder) listingAfterLoss(at int, seed uint64) string {
	return tp.disk.LosePower(at, rand.New(rand.NewPCG(seed, 0))).listing()
}

// listing lists the image's files in the form of the function listing.
func (m *Image) listing() string {
	var lines []string
	m.visit("", func(n *node, path string) {
		if !n.isFolder {
			lines = append(lines, path+"="+string(m.texts[n]))
		}
	})
	return strings.Join(lines, " ")
}

// listing lists a real folder's files with their content.
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

// expectExactly checks that exactly the given folders occur.
func expectExactly(t *testing.T, left map[string]int, may ...string) {
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
