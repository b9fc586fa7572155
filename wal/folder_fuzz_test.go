package wal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pingpost/internal/must"
)

// damages decodes operations on a folder's files from a fuzzer's bytes, six for each, and
// applies them. single reports that exactly one byte changed.
func damages(files map[string][]byte, script []byte) (single bool) {
	changed := 0
	for ; len(script) >= 6; script = script[6:] {
		names := slices.Sorted(func(yield func(string) bool) {
			for name := range files {
				if !yield(name) {
					return
				}
			}
		})
		if len(names) == 0 {
			return false
		}
		name := names[int(script[1])%len(names)]
		changed += damage(files, names, name, script)
	}
	return changed == 1
}

// damage applies one operation. It returns 1 if it changed one byte, and more otherwise.
func damage(files map[string][]byte, names []string, name string, script []byte) (weight int) {
	text := slices.Clone(files[name])
	at := (int(script[2])<<8 | int(script[3])) % (len(text) + 1)
	n := min(int(script[4]), len(text)-at)
	switch script[0] % 9 {
	case 0: // one byte changes
		if n > 0 && script[5] > 0 {
			text[at] ^= script[5]
			files[name] = text
			return 1
		}
		return 0
	case 1:
		files[name] = text[:at]
	case 2: // a piece appears twice
		files[name] = slices.Insert(text, at, text[at:at+n]...)
	case 3:
		files[name] = slices.Delete(text, at, at+n)
	case 4:
		clear(text[at : at+n])
		files[name] = text
	case 5: // two files swap places
		other := names[int(script[5])%len(names)]
		files[name], files[other] = files[other], files[name]
	case 6:
		delete(files, name)
	case 7: // zeros, as a crash leaves them
		files[name] = append(text, make([]byte, int(script[4]))...)
	case 8:
		files[filepath.Join(filepath.Dir(name), fmt.Sprintf("%020d", script[5]))] = text
	}
	return 2
}

// folders returns a temporary folder, in memory if the system has such a file system: an
// fsync of a disk takes longer than the rest of a fuzz run.
func folders(t testing.TB) string {
	parent := "/dev/shm"
	if info, err := os.Stat(parent); err != nil || !info.IsDir() {
		parent = ""
	}
	dir := must.Value(os.MkdirTemp(parent, "walfuzz"))(t) //nolint:usetesting // the test's own folder is on a disk
	return dir
}

// filesOf reads a folder's segments and snapshots.
func filesOf(t testing.TB, dir string) map[string][]byte {
	files := map[string][]byte{}
	for name, text := range tree(t, dir) {
		if strings.Contains(name, "log/") || strings.Contains(name, "snapshot/") {
			files[name] = []byte(text)
		}
	}
	return files
}

func lay(t testing.TB, dir string, files map[string][]byte) {
	for _, sub := range []string{"log", "snapshot"} {
		must.Succeed(t, os.MkdirAll(filepath.Join(dir, sub), 0o750))
	}
	for name, text := range files {
		must.Succeed(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
}

var folderScripts = []string{
	"", "\x00\x00\x00\x05\x01\x80", "\x00\x02\x00\x50\x01\x01", "\x01\x03\x00\x20\x00\x00", "\x02\x01\x00\x00\x40\x00", "\x03\x01\x00\x00\x40\x00", "\x04\x02\x00\x10\x30\x00", "\x05\x01\x00\x00\x00\x02",
	"\x06\x01\x00\x00\x00\x00", "\x06\x03\x00\x00\x00\x00", "\x07\x03\x00\x00\xff\x00", "\x08\x00\x00\x00\x00\x05", "\x01\x03\x00\x00\x00\x00", "\x07\x03\x00\x00\x10\x00\x00\x03\x00\x20\x01\xff", "\x02\x03\x00\x34\x34\x00", "\x01\x00\x00\x00\x00\x00",
}

// FuzzFolder changes, cuts, duplicates, swaps or deletes the segments of a log's folder.
// Open then fails, or the log holds an exact prefix of the original entries: it never
// invents an entry, and one changed byte loses no entry before the last batch. The opened
// log works: the next start finds a further entry.
func FuzzFolder(f *testing.F) {
	dir := f.TempDir()
	opt := Options{SegmentSize: 3 * recordSize(12)}
	l := mustOpen(f, dir, opt)
	all := numbered(11)
	put(f, l, all[:3]...)
	putBatch(f, l, all[3:5]...)
	put(f, l, all[5:8]...)
	putBatch(f, l, all[8:]...)
	const lastBatch = 3
	mustClose(f, l)
	whole := filesOf(f, dir)
	for _, script := range folderScripts {
		f.Add([]byte(script), uint8(0))
		f.Add([]byte(script), uint8(9))
	}
	f.Fuzz(func(t *testing.T, script []byte, atLeast uint8) {
		files := map[string][]byte{}
		for name, text := range whole {
			files[name] = text
		}
		single := damages(files, script[:min(len(script), 60)])
		dir := folders(t)
		defer os.RemoveAll(dir)
		lay(t, dir, files)
		if read, err := drain(NewReader(dir, 1)); !isBeginning(read, all) {
			t.Fatalf("a reader finds %q, %v", read, err)
		}
		if _, err := Verify(dir, nil); err != nil && !isExplained(err) {
			t.Fatalf("Verify: %v", err)
		}
		opt := opt
		opt.AtLeast = uint64(atLeast) % uint64(len(all)+1)
		l, err := Open(dir, opt)
		if err != nil {
			if !isExplained(err) {
				t.Fatalf("Open: %v", err)
			}
			return
		}
		kept, _ := l.LastEntry()
		if kept < opt.AtLeast || single && kept < uint64(len(all)-lastBatch) {
			t.Errorf("%d entries are left, of at least %d", kept, opt.AtLeast)
		}
		put(t, l, "one more")
		mustClose(t, l)
		read, err := drain(NewReader(dir, 1))
		if err != nil || uint64(len(read)) != kept+1 || read[kept] != "one more" || !isBeginning(read[:kept], all) {
			t.Fatalf("after %d entries and one more there are %q, %v", kept, read, err)
		}
	})
}

func isBeginning(read, all []string) bool {
	return len(read) <= len(all) && slices.Equal(read, all[:len(read)])
}

// isExplained reports whether an error tells an operator the cause.
func isExplained(err error) bool {
	var later *VersionError
	return errors.Is(err, ErrDamaged) || errors.Is(err, ErrGone) || errors.Is(err, ErrForeign) || errors.As(err, &later)
}

// FuzzSnapshotFile damages the newer of two snapshots; OpenNewestValidSnapshot then returns one of
// them, complete.
func FuzzSnapshotFile(f *testing.F) {
	dir := f.TempDir()
	write := func(oldest, newest uint64, parts ...string) {
		w := must.Value(BeginSnapshot(dir, SnapshotRateOptions{BytesPerSecond: -1}))(f)
		for _, part := range parts {
			must.Value(io.WriteString(w, part))(f)
			must.Succeed(f, w.EndSection())
		}
		must.Value(w.Commit(oldest, newest, []byte("meta")))(f)
	}
	older, newer := []string{"a", "bb"}, []string{"ccc", strings.Repeat("d", 300), ""}
	write(3, 5, older...)
	write(7, 9, newer...)
	whole := filesOf(f, dir)
	for _, script := range folderScripts {
		f.Add([]byte(script))
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		files := map[string][]byte{}
		for name, text := range whole {
			files[name] = text
		}
		damages(files, script[:min(len(script), 60)])
		dir := folders(t)
		defer os.RemoveAll(dir)
		lay(t, dir, files)
		s, err := OpenNewestValidSnapshot(dir)
		var none *NoSnapshotError
		if err != nil {
			if !errors.As(err, &none) && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			return
		}
		defer s.Close()
		if got := sections(t, s); !slices.Equal(got, older) && !slices.Equal(got, newer) {
			t.Fatalf("%q was never written", got)
		}
	})
}
