package wal

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// TestWriteAside: the file has what was there before and then every byte, whatever its
// length, and it took as long as the rate says. Time is virtual.
func TestWriteAside(t *testing.T) {
	const rate = 1 << 20
	for name, size := range map[string]int{
		"nothing": 0, "a byte": 1, "a piece": AsidePiece, "a byte more than a piece": AsidePiece + 1, "ten pieces": 10 * AsidePiece, "odd": 3*AsidePiece + 77,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "file")
				f, err := os.Create(path)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				mustWriteTo(t, f, []byte("before "))
				data := make([]byte, size)
				for i := range data {
					data[i] = byte(rand.Uint32())
				}
				began := time.Now()
				if err := WriteAside(f, data, rate); err != nil {
					t.Fatal(err)
				}
				pieces := (size + AsidePiece - 1) / AsidePiece
				if took, want := time.Since(began), time.Duration(max(pieces-1, 0))*AsidePiece*time.Second/rate; took != want {
					t.Errorf("it took %v, want %v", took, want)
				}
				if got := mustRead(t, path); !bytes.Equal(got, append([]byte("before "), data...)) {
					t.Errorf("the file has %d bytes, which are not the %d that were written", len(got), size+7)
				}
			})
		})
	}
}

func mustWriteTo(t *testing.T, f *os.File, data []byte) {
	t.Helper()
	if _, err := f.Write(data); err != nil {
		t.Fatal(err)
	}
}

// TestWriteAsideFails: what the system refuses is the caller's to know.
func TestWriteAsideFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path) // to read
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := WriteAside(f, []byte("data"), 0); err == nil {
		t.Error("a file that cannot be written to was written to")
	}
}

// TestFlushAside: each range takes its share of the rate, in pieces. Time is virtual.
func TestFlushAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, make([]byte, 4*AsidePiece), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		ranges := func(yield func(off, n int64) bool) { _ = yield(0, 10) && yield(AsidePiece, 2*AsidePiece+5) }
		began := time.Now()
		if err := FlushAside(f, ranges, AsidePiece); err != nil {
			t.Fatal(err)
		}
		want := 2*time.Second + 15*time.Second/AsidePiece
		if took := time.Since(began); (took - want).Abs() > time.Microsecond {
			t.Errorf("it took %v, want %v", took, want)
		}
		f.Close()
		if err := FlushAside(f, ranges, 0); err == nil {
			t.Error("a file that is closed was flushed")
		}
	})
}
