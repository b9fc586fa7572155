package rowfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pingpost/internal/must"
)

var twoKinds = Shape{Shards: 4, RowBytes: []int{24, 96}}

// newReads returns a limit of one read at a time, so that a read which is not given back blocks the test.
func newReads() chan struct{} { return make(chan struct{}, 1) }

// sortedRows returns count rows of a kind with random keys, whose content repeats the key.
func sortedRows(random *rand.Rand, kind, count int) (rows []byte) {
	keys := make([][]byte, count)
	for i := range keys {
		keys[i] = binary.LittleEndian.AppendUint64(nil, random.Uint64())
		keys[i] = binary.LittleEndian.AppendUint64(keys[i], random.Uint64())
	}
	slices.SortFunc(keys, compareKeys)
	for _, key := range keys {
		rows = append(rows, rowOf(kind, key, byte(random.Uint32()))...)
	}
	return rows
}

func rowOf(kind int, key []byte, content byte) []byte {
	return append(bytes.Clone(key), bytes.Repeat([]byte{content}, twoKinds.RowBytes[kind]-KeyBytes)...)
}

// writeFile writes a file with these parts and opens it.
func writeFile(t testing.TB, path string, meta string, parts [][]byte) *File {
	t.Helper()
	w := must.Value(Create(path, twoKinds, WriteOptions{}))(t)
	for _, rows := range parts {
		must.Succeed(t, w.WritePart(rows))
	}
	must.Succeed(t, w.Commit([]byte(meta)))
	return must.Value(Open(path, twoKinds, newReads()))(t)
}

// randomParts returns the parts of a file, of which each has up to maxRows rows.
func randomParts(random *rand.Rand, maxRows int) (parts [][]byte) {
	for i := range twoKinds.parts() {
		parts = append(parts, sortedRows(random, i%2, random.IntN(maxRows+1)))
	}
	return parts
}

func TestFindsExactlyRowsOfFile(t *testing.T) {
	for _, maxRows := range []int{0, 1, 2, 41, 42, 5000} {
		t.Run(fmt.Sprint(maxRows), func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, uint64(maxRows)))
			parts := randomParts(random, maxRows)
			f := writeFile(t, filepath.Join(t.TempDir(), "a.rows"), "meta", parts)
			if string(f.Meta()) != "meta" {
				t.Errorf("meta is %q", f.Meta())
			}
			for i, rows := range parts {
				kind, shard := i%2, i/2
				size := twoKinds.RowBytes[kind]
				for at := 0; at < len(rows); at += size {
					key := [KeyBytes]byte(rows[at:])
					row, found, err := f.Find(kind, shard, key, []byte("before"))
					if err != nil || !found || string(row) != "before"+string(rows[at:at+size]) {
						t.Fatalf("part %d, row %d: found %v, error %v", i, at/size, found, err)
					}
					key[0] ^= 1 // the filter knows the last eight bytes
					if _, found, err := f.Find(kind, shard, key, nil); found || err != nil {
						t.Fatalf("found a key that no row has, error %v", err)
					}
				}
				if got := must.Value(f.AppendPart(nil, kind, shard))(t); !bytes.Equal(got, rows) {
					t.Errorf("part %d has other rows", i)
				}
			}
		})
	}
}

// The first keys of several blocks may be alike in the four bytes that the index has of them.
func TestFindsKeysWithEqualPrefixes(t *testing.T) {
	var rows []byte
	for i := range 500 {
		rows = append(rows, rowOf(1, append(make([]byte, 8), 7, 7, 7, 7, byte(i>>8), byte(i), 0, 0), byte(i))...)
	}
	parts := make([][]byte, twoKinds.parts())
	parts[1] = rows
	f := writeFile(t, filepath.Join(t.TempDir(), "a.rows"), "", parts)
	for i := range 500 {
		key := [KeyBytes]byte(rows[i*96:])
		if row, found, err := f.Find(1, 0, key, nil); err != nil || !found || !bytes.Equal(row, rows[i*96:(i+1)*96]) {
			t.Fatalf("row %d: found %v, error %v", i, found, err)
		}
	}
}

// Few keys that a file does not have pass its filter.
func TestFilterExcludesMissingKeys(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	f := writeFile(t, filepath.Join(t.TempDir(), "a.rows"), "", randomParts(random, 5000))
	passed := 0
	for range 500_000 {
		if f.MayHave(0, 1, [KeyBytes]byte(binary.LittleEndian.AppendUint64(make([]byte, 8), random.Uint64()))) {
			passed++
		}
	}
	if passed > 40 { // 7.6 expected
		t.Errorf("%d of 500,000 missing keys passed", passed)
	}
}

// Whichever byte of a file is changed, no read returns a wrong row or misses one silently. Every seventh byte is tried.
func TestFindsDamage(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	path := filepath.Join(t.TempDir(), "a.rows")
	parts := randomParts(random, 25)
	writeFile(t, path, "meta", parts)
	good := must.Value(os.ReadFile(path))(t)
	expectDamage := func(name string, content []byte) {
		t.Helper()
		must.Succeed(t, os.WriteFile(path, content, 0o600))
		f, err := Open(path, twoKinds, newReads())
		for i := 0; err == nil && i < len(parts); i++ {
			_, err = f.AppendPart(nil, i%2, i/2)
		}
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	for at := 0; at < len(good); at += 7 {
		spoiled := bytes.Clone(good)
		spoiled[at] ^= 1 << (at % 8)
		expectDamage(fmt.Sprintf("byte %d changed", at), spoiled)
	}
	for size := 0; size < len(good); size += 97 {
		expectDamage(fmt.Sprintf("cut to %d bytes", size), good[:size])
	}
	other := filepath.Join(t.TempDir(), "b.rows")
	writeFile(t, other, "meta", parts)
	foreign := must.Value(os.ReadFile(other))(t)
	expectDamage("a block of another file", append(bytes.Clone(good[:headerBytes]), append(bytes.Clone(foreign[headerBytes:2000]), good[2000:]...)...))
	must.Succeed(t, os.WriteFile(path, good, 0o600))
	if _, err := Open(path, Shape{Shards: 4, RowBytes: []int{24, 95}}, newReads()); !errors.Is(err, ErrDamaged) {
		t.Errorf("opened with another shape: %v", err)
	}
}

// Of rows with one key, a merge keeps the one of the newest file, and drops those that keep refuses.
func TestMerge(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	dir := t.TempDir()
	want := make([]map[[KeyBytes]byte][]byte, twoKinds.parts())
	for i := range want {
		want[i] = map[[KeyBytes]byte][]byte{}
	}
	var newestFirst []*File
	old := randomParts(random, 300)
	for n := range 3 {
		parts := randomParts(random, 300)
		for i := range parts { // some rows of the file before, with another content
			size, kind := twoKinds.RowBytes[i%2], i%2
			for at := 0; at < len(old[i]); at += 3 * size {
				parts[i] = append(parts[i], rowOf(kind, old[i][at:at+KeyBytes], byte(n))...)
			}
			parts[i] = sortRows(parts[i], size)
			for at := 0; at < len(parts[i]); at += size {
				want[i][[KeyBytes]byte(parts[i][at:])] = parts[i][at : at+size]
			}
		}
		newestFirst = append([]*File{writeFile(t, filepath.Join(dir, fmt.Sprint(n)), "", parts)}, newestFirst...)
		old = parts
	}
	path := filepath.Join(dir, "merged")
	w := must.Value(Create(path, twoKinds, WriteOptions{}))(t)
	keep := func(_ int, row []byte) bool { return row[KeyBytes]%5 != 0 }
	must.Succeed(t, Merge(w, newestFirst, keep))
	must.Succeed(t, w.Commit(nil))
	merged := must.Value(Open(path, twoKinds, newReads()))(t)
	for i := range want {
		var rows []byte
		for _, row := range want[i] {
			if keep(i%2, row) {
				rows = append(rows, row...)
			}
		}
		if got := must.Value(merged.AppendPart(nil, i%2, i/2))(t); !bytes.Equal(got, sortRows(rows, twoKinds.RowBytes[i%2])) {
			t.Errorf("part %d has other rows than the newest ones", i)
		}
	}
}

func sortRows(rows []byte, size int) []byte {
	sorted := slices.Collect(slices.Chunk(rows, size))
	slices.SortFunc(sorted, compareKeys)
	return slices.Concat(sorted...)
}

// A file that is not committed leaves no file behind.
func TestAbort(t *testing.T) {
	dir := t.TempDir()
	w := must.Value(Create(filepath.Join(dir, "a.rows"), twoKinds, WriteOptions{}))(t)
	must.Succeed(t, w.WritePart(rowOf(0, make([]byte, KeyBytes), 1)))
	w.Abort()
	if left := must.Value(os.ReadDir(dir))(t); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// A merge of large files does not delay the end of the process.
func TestMergeStopsWhenLimitIsLifted(t *testing.T) {
	dir := t.TempDir()
	f := writeFile(t, filepath.Join(dir, "a.rows"), "", randomParts(rand.New(rand.NewPCG(5, 5)), 10))
	lifted := make(chan struct{})
	close(lifted)
	w := must.Value(Create(filepath.Join(dir, "b.rows"), twoKinds, WriteOptions{BytesPerSecond: 1, LiftLimit: lifted}))(t)
	defer w.Abort()
	if err := Merge(w, []*File{f}, func(int, []byte) bool { return true }); !errors.Is(err, ErrStopped) {
		t.Errorf("the merge ended with %v", err)
	}
}

// A writer that sleeps because of its limit continues as soon as the limit is lifted.
func TestLiftedLimitEndsSleep(t *testing.T) {
	lifted := make(chan struct{})
	w := must.Value(Create(filepath.Join(t.TempDir(), "a.rows"), twoKinds, WriteOptions{BytesPerSecond: 1, LiftLimit: lifted}))(t)
	defer w.Abort()
	time.AfterFunc(time.Millisecond, func() { close(lifted) })
	must.Succeed(t, w.WritePart(sortedRows(rand.New(rand.NewPCG(8, 8)), 0, 2*writeChunk/twoKinds.RowBytes[0])))
	if w.written < writeChunk {
		t.Errorf("%d bytes were written", w.written)
	}
}
