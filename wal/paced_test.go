package wal

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/internal/must"
)

// WritePaced keeps the file's earlier bytes, adds every new byte for any length, and takes
// the time that the rate gives. Time is virtual.
func TestWritePaced(t *testing.T) {
	const rate = 1 << 20
	for name, size := range map[string]int{
		"nothing": 0, "a byte": 1, "a piece": PacedPiece, "a byte more than a piece": PacedPiece + 1, "ten pieces": 10 * PacedPiece, "odd": 3*PacedPiece + 77,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "file")
				f := must.Value(os.Create(path))(t)
				defer f.Close()
				mustWriteTo(t, f, []byte("before "))
				data := make([]byte, size)
				for i := range data {
					data[i] = byte(rand.Uint32())
				}
				began := time.Now()
				must.Succeed(t, WritePaced(f, data, rate))
				pieces := (size + PacedPiece - 1) / PacedPiece
				if took, want := time.Since(began), time.Duration(max(pieces-1, 0))*PacedPiece*time.Second/rate; took != want {
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
	must.Value(f.Write(data))(t)
}

// WritePaced returns the system's error.
func TestWritePacedReturnsError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	must.Succeed(t, os.WriteFile(path, nil, 0o600))
	f := must.Value(os.Open(path))(t) // read-only
	defer f.Close()
	if err := WritePaced(f, []byte("data"), 0); err == nil {
		t.Error("a file that cannot be written to was written to")
	}
}

// Each range counts for the rate, in pieces. Time is virtual.
func TestFlushPaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "file")
		must.Succeed(t, os.WriteFile(path, make([]byte, 4*PacedPiece), 0o600))
		f := must.Value(os.Open(path))(t)
		defer f.Close()
		ranges := func(yield func(off, n int64) bool) { _ = yield(0, 10) && yield(PacedPiece, 2*PacedPiece+5) }
		began := time.Now()
		must.Succeed(t, FlushPaced(f, ranges, PacedPiece))
		want := 2*time.Second + 15*time.Second/PacedPiece
		if took := time.Since(began); (took - want).Abs() > time.Microsecond {
			t.Errorf("it took %v, want %v", took, want)
		}
		f.Close()
		if err := FlushPaced(f, ranges, 0); err == nil {
			t.Error("a file that is closed was flushed")
		}
	})
}
