//go:build linux

package main

import (
	"os"
)

// A write that a crash tore: behind the last record stands what can be left of the
// next one, which nobody was told of. The start must cut it, keep a copy, and go on.
var _ = register(fault{name: "log's end torn", weight: 3, strike: func(t *torture) bool {
	t.Kill()
	all, err := framesOf(t.DataDir())
	if err != nil || len(all) == 0 {
		t.clerk.Fatalf("the log cannot be read: %v", err)
	}
	last := all[len(all)-1]
	text, err := os.ReadFile(last.path)
	if err != nil {
		t.clerk.Fatal(err)
	}
	whole := len(text)
	text = append(text, torn(t, successor(last, text))...)
	if err := os.WriteFile(last.path, text, 0o600); err != nil {
		t.clerk.Fatal(err)
	}
	kept := count(t, "damage")
	t.Start()
	if count(t, "damage") <= kept {
		t.clerk.Errorf("of %s, %d bytes behind %d were torn, and no copy is in damage/", last.path, len(text)-whole, whole)
	}
	return true
}})

// torn is what is left of a record, in one of the ways in which pages reach a disk, or
// do not: its beginning; all of it but a hole; all of it with a bit that is another;
// zeros; anything.
func torn(t *torture, record []byte) []byte {
	some := 1 + t.chance.IntN(len(record)-1)
	switch t.chance.IntN(5) {
	case 0:
		return record[:some]
	case 1:
		last := record[len(record)-1]
		clear(record[max(some, frameHead+4):])
		record[len(record)-1] = ^last
		return record
	case 2:
		at := frameHead + 4 + t.chance.IntN(len(record)-frameHead-4)
		record[at] ^= 1 << t.chance.IntN(8)
		return record
	case 3:
		return make([]byte, some)
	}
	for i := range record {
		record[i] = byte(t.chance.Uint64())
	}
	return record[:some]
}

// count is how many files there are in a folder of the data directory.
func count(t *torture, folder string) int {
	entries, _ := os.ReadDir(t.DataDir() + "/" + folder)
	return len(entries)
}
