//go:build linux

package main

import (
	"os"
)

// A write that a crash tore: after the last record follows a possible part of another, on which
// no output relies. The start must cut it, keep a copy, and continue.
var _ = register(fault{name: "log's end torn", weight: 3, inject: func(t *torture) bool {
	t.Kill()
	all, err := readFrames(t.DataDir())
	if err != nil || len(all) == 0 {
		t.reporter.Fatalf("cannot read the log: %v", err)
	}
	last := all[len(all)-1]
	text, err := os.ReadFile(last.path)
	if err != nil {
		t.reporter.Fatal(err)
	}
	whole := len(text)
	text = append(text, tearRecord(t, nextRecord(last, text))...)
	if err := os.WriteFile(last.path, text, 0o600); err != nil {
		t.reporter.Fatal(err)
	}
	kept := countFiles(t, "damage")
	t.Start()
	if countFiles(t, "damage") <= kept {
		t.reporter.Errorf("%s: %d torn bytes after offset %d were cut without a copy in damage/", last.path, len(text)-whole, whole)
	}
	return true
}})

// tearRecord returns the remains of a record, in one of the ways in which pages may reach a
// disk: its beginning, all of it with a hole, all of it with a flipped bit, zeros, or random
// bytes.
func tearRecord(t *torture, record []byte) []byte {
	some := 1 + t.random.IntN(len(record)-1)
	switch t.random.IntN(5) {
	case 0:
		return record[:some]
	case 1:
		last := record[len(record)-1]
		clear(record[max(some, frameHead+4):])
		record[len(record)-1] = ^last
		return record
	case 2:
		at := frameHead + 4 + t.random.IntN(len(record)-frameHead-4)
		record[at] ^= 1 << t.random.IntN(8)
		return record
	case 3:
		return make([]byte, some)
	}
	for i := range record {
		record[i] = byte(t.random.Uint64())
	}
	return record[:some]
}

// countFiles returns the number of files in a folder of the data directory.
func countFiles(t *torture, folder string) int {
	entries, _ := os.ReadDir(t.DataDir() + "/" + folder)
	return len(entries)
}
