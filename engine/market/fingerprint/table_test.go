package fingerprint

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// someFingerprints are even ones, such as keyed hashes make, and ones crowded
// into a corner, such as they never make.
func someFingerprints() *rapid.Generator[[]uint64] {
	return rapid.OneOf(
		rapid.Map(rapid.Uint64(), func(seed uint64) []uint64 { return evenFingerprints(int(seed%3000), seed) }),
		rapid.SliceOf(rapid.Uint64()),
		rapid.SliceOf(rapid.Uint64Range(0, 100)),
	)
}

func evenFingerprints(n int, seed uint64) []uint64 {
	random := rand.New(rand.NewPCG(seed, 1))
	all := make([]uint64, n)
	for i := range all {
		all[i] = random.Uint64()
	}
	return all
}

func TestTableIsASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries := someFingerprints().Draw(t, "entries")
		model := map[uint64]bool{}
		for _, e := range entries {
			model[e] = true
		}
		built := NewFingerprintTable(slices.Clone(entries))
		file := built.AppendBinary(nil)
		read, err := ParseFingerprintTable(file)
		if err != nil {
			t.Fatal(err)
		}
		for name, table := range map[string]*FingerprintTable{"built": built, "read": read} {
			if table.Len() != len(model) {
				t.Fatalf("%s: %d entries, want %d", name, table.Len(), len(model))
			}
			for e := range model {
				for _, probe := range []uint64{e, e + 1, e - 1, e ^ 1<<63, ^e} {
					if table.Has(probe) != model[probe] {
						t.Fatalf("%s: %x in it: %t", name, probe, table.Has(probe))
					}
				}
			}
			for _, probe := range []uint64{0, 1, ^uint64(0), rapid.Uint64().Draw(t, "probe")} {
				if table.Has(probe) != model[probe] {
					t.Fatalf("%s: %x in it: %t", name, probe, table.Has(probe))
				}
			}
		}
	})
}

func TestTableDoesNotKeepTheSlice(t *testing.T) {
	entries := evenFingerprints(100, 1)
	first := entries[0]
	table := NewFingerprintTable(entries)
	clear(entries)
	if !table.Has(first) || table.Len() != 100 {
		t.Error("the table changed with the slice that it was made of")
	}
}

func TestTableTakesAtMost16BytesAnEntry(t *testing.T) {
	for _, n := range []int{8, 9, 31, 32, 33, 1000, 4095, 4096, 100_000} {
		table := NewFingerprintTable(evenFingerprints(n, 7))
		if size := cap(table.file) + 4*cap(table.bucketStarts); size > 16*n {
			t.Errorf("%d entries take %d bytes", n, size)
		}
	}
}

func TestTableStretchesAreShort(t *testing.T) {
	table := NewFingerprintTable(evenFingerprints(100_000, 3))
	for i := range table.bucketStarts[1:] {
		if n := table.bucketStarts[i+1] - table.bucketStarts[i]; n > 40 {
			t.Fatalf("stretch %d of %d has %d entries", i, len(table.bucketStarts)-1, n)
		}
	}
	if mean := table.Len() / (len(table.bucketStarts) - 1); mean < 4 || mean > 8 {
		t.Errorf("a stretch has %d entries", mean)
	}
}

func TestTableFileIsFrozen(t *testing.T) {
	file := NewFingerprintTable([]uint64{0x0102030405060708, 1}).AppendBinary([]byte("before"))
	want := "before" + "ppsl" + "\x01\x00\x00\x00" + "\x02\x00\x00\x00\x00\x00\x00\x00" +
		"\x01\x00\x00\x00\x00\x00\x00\x00" + "\x08\x07\x06\x05\x04\x03\x02\x01" + "\xf0\x5b\x0b\xba"
	if string(file) != want {
		t.Errorf("%q\nwant\n%q", file, want)
	}
}

func TestDamagedTableIsRefused(t *testing.T) {
	file := NewFingerprintTable(evenFingerprints(20, 5)).AppendBinary(nil)
	if _, err := ParseFingerprintTable(slices.Clone(file)); err != nil {
		t.Fatal(err)
	}
	for i := range file {
		for bit := range 8 {
			damaged := slices.Clone(file)
			damaged[i] ^= 1 << bit
			if _, err := ParseFingerprintTable(damaged); err == nil {
				t.Fatalf("bit %d of byte %d is flipped, and it opens", bit, i)
			}
		}
		if _, err := ParseFingerprintTable(file[:i]); err == nil {
			t.Fatalf("it ends after %d bytes, and it opens", i)
		}
	}
	if _, err := ParseFingerprintTable(append(slices.Clone(file), 0)); err == nil {
		t.Error("a byte follows it, and it opens")
	}
}

// tableFile writes any count and order of entries under a good checksum.
func tableFile(version uint32, count uint64, entries ...uint64) []byte {
	file := binary.LittleEndian.AppendUint32([]byte("ppsl"), version)
	file = binary.LittleEndian.AppendUint64(file, count)
	for _, e := range entries {
		file = binary.LittleEndian.AppendUint64(file, e)
	}
	return binary.LittleEndian.AppendUint32(file, crc32.Checksum(file, crc32.MakeTable(crc32.Castagnoli)))
}

func TestOpenTableSaysWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"nothing":               {nil, "not a suppression table"},
		"a text":                {[]byte("2025550143\n2025550144\n2025550145\n"), "not a suppression table"},
		"a later version":       {tableFile(2, 0), "has format version 2, but this program reads version 1"},
		"fewer entries":         {tableFile(1, 3, 1, 2), "of 3 entries has 16 bytes for them"},
		"more entries":          {tableFile(1, 1, 1, 2), "of 1 entries has 16 bytes for them"},
		"a count that overflow": {tableFile(1, 1<<61), "of 2305843009213693952 entries"},
		"half an entry":         {append(tableFile(1, 1), 1, 2, 3, 4), "has 4 bytes for them"},
		"out of order":          {tableFile(1, 2, 2, 1), "not sorted"},
		"one entry twice":       {tableFile(1, 2, 1, 1), "not sorted"},
		"out of order, many":    {tableFile(1, 9, 9, 8, 7, 6, 5, 4, 3, 2, 1<<63), "not sorted"},
		"a wrong checksum":      {append(bytes.TrimSuffix(tableFile(1, 0), tableFile(1, 0)[16:]), 1, 2, 3, 4), "does not match"},
	} {
		if _, err := ParseFingerprintTable(c.file); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want …%s…", name, err, c.want)
		}
	}
}

func TestOpenTableOfAnythingDoesNotPanic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries := rapid.SliceOf(rapid.Uint64()).Draw(t, "entries")
		table, err := ParseFingerprintTable(tableFile(1, uint64(len(entries)), entries...))
		if err == nil && !slices.IsSorted(entries) {
			t.Fatal("it is out of order, and it opens")
		}
		if err == nil && table.Len() != len(entries) {
			t.Fatalf("%d entries, want %d", table.Len(), len(entries))
		}
	})
}
