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

// fingerprintGenerator generates evenly distributed fingerprints, as keyed hashes are, and
// clustered ones, which hashes never are.
func fingerprintGenerator() *rapid.Generator[[]uint64] {
	return rapid.OneOf(
		rapid.Map(rapid.Uint64(), func(seed uint64) []uint64 { return randomFingerprints(int(seed%3000), seed) }),
		rapid.SliceOf(rapid.Uint64()),
		rapid.SliceOf(rapid.Uint64Range(0, 100)),
	)
}

func randomFingerprints(n int, seed uint64) []uint64 {
	random := rand.New(rand.NewPCG(seed, 1))
	all := make([]uint64, n)
	for i := range all {
		all[i] = random.Uint64()
	}
	return all
}

func TestTableContainsItsEntriesOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries := fingerprintGenerator().Draw(t, "entries")
		model := map[uint64]bool{}
		for _, e := range entries {
			model[e] = true
		}
		built := NewFingerprintTable(slices.Clone(entries))
		file := built.AppendBinary(nil)
		parsed, err := ParseFingerprintTable(file)
		if err != nil {
			t.Fatal(err)
		}
		for name, table := range map[string]*FingerprintTable{"built": built, "parsed": parsed} {
			if table.Len() != len(model) {
				t.Fatalf("%s: %d entries, want %d", name, table.Len(), len(model))
			}
			for e := range model {
				for _, probe := range []uint64{e, e + 1, e - 1, e ^ 1<<63, ^e} {
					if table.Has(probe) != model[probe] {
						t.Fatalf("%s: Has(%x) = %t", name, probe, table.Has(probe))
					}
				}
			}
			for _, probe := range []uint64{0, 1, ^uint64(0), rapid.Uint64().Draw(t, "probe")} {
				if table.Has(probe) != model[probe] {
					t.Fatalf("%s: Has(%x) = %t", name, probe, table.Has(probe))
				}
			}
		}
	})
}

func TestTableDoesNotKeepInputSlice(t *testing.T) {
	entries := randomFingerprints(100, 1)
	first := entries[0]
	table := NewFingerprintTable(entries)
	clear(entries)
	if !table.Has(first) || table.Len() != 100 {
		t.Error("the table changed with its input slice")
	}
}

func TestTableMemoryPerEntry(t *testing.T) {
	for _, n := range []int{8, 9, 31, 32, 33, 1000, 4095, 4096, 100_000} {
		table := NewFingerprintTable(randomFingerprints(n, 7))
		if size := cap(table.file) + 4*cap(table.bucketStarts); size > 16*n {
			t.Errorf("%d entries use %d bytes, want at most 16 each", n, size)
		}
	}
}

func TestTableBucketsAreSmall(t *testing.T) {
	table := NewFingerprintTable(randomFingerprints(100_000, 3))
	for i := range table.bucketStarts[1:] {
		if n := table.bucketStarts[i+1] - table.bucketStarts[i]; n > 40 {
			t.Fatalf("bucket %d of %d has %d entries, want at most 40", i, len(table.bucketStarts)-1, n)
		}
	}
	if mean := table.Len() / (len(table.bucketStarts) - 1); mean < 4 || mean > 8 {
		t.Errorf("buckets have %d entries on average, want 4 to 8", mean)
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

func TestParseTableRejectsDamage(t *testing.T) {
	file := NewFingerprintTable(randomFingerprints(20, 5)).AppendBinary(nil)
	if _, err := ParseFingerprintTable(slices.Clone(file)); err != nil {
		t.Fatal(err)
	}
	for i := range file {
		for bit := range 8 {
			damaged := slices.Clone(file)
			damaged[i] ^= 1 << bit
			if _, err := ParseFingerprintTable(damaged); err == nil {
				t.Fatalf("flipped bit %d of byte %d is accepted", bit, i)
			}
		}
		if _, err := ParseFingerprintTable(file[:i]); err == nil {
			t.Fatalf("a file of %d bytes is accepted", i)
		}
	}
	if _, err := ParseFingerprintTable(append(slices.Clone(file), 0)); err == nil {
		t.Error("an extra byte is accepted")
	}
}

// encodeTable encodes any count and order of entries with a valid checksum.
func encodeTable(version uint32, count uint64, entries ...uint64) []byte {
	file := binary.LittleEndian.AppendUint32([]byte("ppsl"), version)
	file = binary.LittleEndian.AppendUint64(file, count)
	for _, e := range entries {
		file = binary.LittleEndian.AppendUint64(file, e)
	}
	return binary.LittleEndian.AppendUint32(file, crc32.Checksum(file, crc32.MakeTable(crc32.Castagnoli)))
}

func TestParseTableErrors(t *testing.T) {
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"empty":                {nil, "not a suppression table"},
		"a text":               {[]byte("2025550143\n2025550144\n2025550145\n"), "not a suppression table"},
		"a later version":      {encodeTable(2, 0), "has format version 2, but this program reads version 1"},
		"fewer entries":        {encodeTable(1, 3, 1, 2), "of 3 entries has 16 bytes for them"},
		"more entries":         {encodeTable(1, 1, 1, 2), "of 1 entries has 16 bytes for them"},
		"count that overflows": {encodeTable(1, 1<<61), "of 2305843009213693952 entries"},
		"half an entry":        {append(encodeTable(1, 1), 1, 2, 3, 4), "has 4 bytes for them"},
		"out of order":         {encodeTable(1, 2, 2, 1), "not sorted"},
		"duplicate entry":      {encodeTable(1, 2, 1, 1), "not sorted"},
		"out of order, many":   {encodeTable(1, 9, 9, 8, 7, 6, 5, 4, 3, 2, 1<<63), "not sorted"},
		"a wrong checksum":     {append(bytes.TrimSuffix(encodeTable(1, 0), encodeTable(1, 0)[16:]), 1, 2, 3, 4), "does not match"},
	} {
		if _, err := ParseFingerprintTable(c.file); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want …%s…", name, err, c.want)
		}
	}
}

func TestParseTableOfRandomEntriesDoesNotPanic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries := rapid.SliceOf(rapid.Uint64()).Draw(t, "entries")
		table, err := ParseFingerprintTable(encodeTable(1, uint64(len(entries)), entries...))
		if err == nil && !slices.IsSorted(entries) {
			t.Fatal("unsorted entries are accepted")
		}
		if err == nil && table.Len() != len(entries) {
			t.Fatalf("%d entries, want %d", table.Len(), len(entries))
		}
	})
}
