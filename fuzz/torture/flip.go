//go:build linux

package main

import (
	"fmt"
	"os"
	"strings"
)

// A flipped bit in an acknowledged record. The exchange must refuse to start and report the
// segment and the offset. Afterwards the bit is restored.
var _ = register(fault{name: "bit flipped in the log", weight: 2, inject: func(t *torture) bool {
	t.Kill()
	from := newestSnapshot(t.DataDir())
	all, err := readFrames(t.DataDir())
	if err != nil {
		t.reporter.Fatalf("cannot read the log: %v", err)
	}
	victims := detectableFrames(all, from)
	if len(victims) == 0 {
		t.Start()
		return false
	}
	victim := victims[t.random.IntN(len(victims))]
	at, bit := victim.at+t.random.Int64N(victim.size), byte(1)<<t.random.IntN(8)
	t.flipBit(victim.path, at, bit)
	code, said := t.AwaitRefusal()
	where := fmt.Sprintf("%q is damaged at offset %d,", victim.path, victim.at)
	if code != 1 || !strings.Contains(strings.ReplaceAll(said, `\"`, `"`), where) {
		t.reporter.Errorf("bit flipped at offset %d of %s (entry %d, frame at %d): expected exit code 1 and a message with the segment and the frame's offset, got exit code %d and:\n%s", at, victim.path, victim.seq, victim.at, code, said)
	}
	t.flipBit(victim.path, at, bit)
	t.Start()
	return true
}})

// detectableFrames returns the frames whose damage cannot be mistaken for a crash: a later
// batch follows them. A start does not read records that a snapshot contains.
func detectableFrames(all []frame, snapshot uint64) (some []frame) {
	if len(all) == 0 {
		return nil
	}
	newest := all[len(all)-1].batch
	for _, f := range all {
		if f.seq > snapshot && f.batch < newest {
			some = append(some, f)
		}
	}
	return some
}

func (t *torture) flipBit(path string, at int64, bit byte) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.reporter.Fatal(err)
	}
	defer f.Close()
	var one [1]byte
	if _, err = f.ReadAt(one[:], at); err == nil {
		one[0] ^= bit
		_, err = f.WriteAt(one[:], at)
	}
	if err != nil {
		t.reporter.Fatal(err)
	}
}
