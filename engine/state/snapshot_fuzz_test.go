package state

import (
	"bytes"
	"runtime"
	"testing"
)

// FuzzSnapshot: what is loaded, right or wrong, is written as a snapshot that loads
// to the same state, and a file costs memory by its own length only.
func FuzzSnapshot(f *testing.F) {
	f.Add(snapshotOf(f, &world{State: New()}))
	f.Add(snapshotOf(f, newWorld()))
	f.Add(snapshotOf(f, rich()))
	const perByte, atFirst = 4096, 64 << 20
	f.Fuzz(func(t *testing.T, file []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		first := New()
		_, err := first.LoadSnapshot(bytes.NewReader(file))
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > uint64(len(file))*perByte+atFirst {
			t.Fatalf("%d bytes for %d", took, len(file))
		}
		if err != nil {
			return
		}
		var written, again bytes.Buffer
		if _, _, err := first.WriteSnapshot(&written); err != nil {
			t.Fatal(err)
		}
		text := written.Bytes()
		second := New()
		if _, err := second.LoadSnapshot(bytes.NewReader(text)); err != nil {
			t.Fatalf("what was loaded and written is not loaded: %v", err)
		}
		if _, _, err := second.WriteSnapshot(&again); err != nil {
			t.Fatal(err)
		}
		_, one := first.Hash()
		if _, two := second.Hash(); one != two {
			t.Fatal("another state")
		}
		if !bytes.Equal(text, again.Bytes()) && len(text) != again.Len() {
			t.Fatalf("%d bytes, written again %d", len(text), again.Len())
		}
	})
}
