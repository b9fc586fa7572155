package state

import (
	"bytes"
	"runtime"
	"testing"
)

// FuzzSnapshot checks that any accepted file is written as a snapshot that loads to the same
// state, and that loading allocates in proportion to the file's length.
func FuzzSnapshot(f *testing.F) {
	f.Add(snapshotOf(f, &testExchange{State: New()}))
	f.Add(snapshotOf(f, newTestExchange()))
	f.Add(snapshotOf(f, newBusyExchange()))
	const perByte, base = 4096, 64 << 20
	f.Fuzz(func(t *testing.T, file []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		first := New()
		_, err := first.LoadSnapshot(bytes.NewReader(file))
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > uint64(len(file))*perByte+base {
			t.Fatalf("%d bytes allocated for a file of %d bytes", took, len(file))
		}
		if err != nil {
			return
		}
		var written, again bytes.Buffer
		if _, _, err := first.WriteSnapshot(&written, nil); err != nil {
			t.Fatal(err)
		}
		text := written.Bytes()
		second := New()
		if _, err := second.LoadSnapshot(bytes.NewReader(text)); err != nil {
			t.Fatalf("cannot load the snapshot of a loaded state: %v", err)
		}
		if _, _, err := second.WriteSnapshot(&again, nil); err != nil {
			t.Fatal(err)
		}
		_, one := first.Hash()
		if _, two := second.Hash(); one != two {
			t.Fatal("the state after a second load differs")
		}
		if !bytes.Equal(text, again.Bytes()) && len(text) != again.Len() {
			t.Fatalf("the first snapshot has %d bytes, the second %d", len(text), again.Len())
		}
	})
}
