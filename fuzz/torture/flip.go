//go:build linux

package main

import (
	"fmt"
	"os"
	"strings"
)

// A bit that rots in a record that was acknowledged: the exchange must refuse to start,
// and say in which segment, and where. Then the bit is put back.
var _ = register(fault{name: "bit flipped in the log", weight: 2, strike: func(t *torture) bool {
	t.Kill()
	from := newestSnapshot(t.DataDir())
	all, err := framesOf(t.DataDir())
	if err != nil {
		t.clerk.Fatalf("the log cannot be read: %v", err)
	}
	victims := provable(all, from)
	if len(victims) == 0 {
		t.Start()
		return false
	}
	victim := victims[t.chance.IntN(len(victims))]
	at, bit := victim.at+t.chance.Int64N(victim.size), byte(1)<<t.chance.IntN(8)
	t.flip(victim.path, at, bit)
	code, said := t.AwaitRefusal()
	where := fmt.Sprintf("%q is damaged at offset %d,", victim.path, victim.at)
	if code != 1 || !strings.Contains(strings.ReplaceAll(said, `\"`, `"`), where) {
		t.clerk.Errorf("a bit was flipped at %d of %s, in entry %d of the frame at %d. Exit code %d, and of where it is:\n%s", at, victim.path, victim.seq, victim.at, code, said)
	}
	t.flip(victim.path, at, bit)
	t.Start()
	return true
}})

// provable are the frames whose damage can be told from a crash: a later batch stands
// behind them. What a snapshot holds is not read at a start.
func provable(all []frame, snapshot uint64) (some []frame) {
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

func (t *torture) flip(path string, at int64, bit byte) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.clerk.Fatal(err)
	}
	defer f.Close()
	var one [1]byte
	if _, err = f.ReadAt(one[:], at); err == nil {
		one[0] ^= bit
		_, err = f.WriteAt(one[:], at)
	}
	if err != nil {
		t.clerk.Fatal(err)
	}
}
