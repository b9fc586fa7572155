package rowfile

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/FastFilter/xorfilter"

	"pingpost/internal/must"
)

// A filter is decoded as its library does, behind the filters before it, and a cut or longer one is refused.
func TestDecodedFilterEqualsThatOfLibrary(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 6))
	memory := make([]uint16, 3, 10_000)
	for _, keys := range []int{1, 2, 40, 5000} {
		built := must.Value(xorfilter.NewBinaryFuse[uint16](randomKeys(random, keys)))(t)
		var encoded bytes.Buffer
		must.Succeed(t, built.Save(&encoded))
		want := must.Value(xorfilter.LoadBinaryFuse[uint16](bytes.NewReader(encoded.Bytes())))(t)
		got, used, err := decodeFilter(encoded.Bytes(), memory)
		if err != nil || !reflect.DeepEqual(got, *want) {
			t.Errorf("%d keys: %v, another filter", keys, err)
		}
		if len(used) != len(memory)+len(want.Fingerprints) || &used[len(memory)] != &got.Fingerprints[0] {
			t.Errorf("%d keys: the fingerprints are not behind those of the filters before", keys)
		}
		for _, length := range []int{0, 8, 27, 28, encoded.Len() - 2, encoded.Len() - 1} {
			if _, used, err := decodeFilter(encoded.Bytes()[:length], memory); err == nil || len(used) != len(memory) {
				t.Errorf("%d keys, cut to %d bytes: %v", keys, length, err)
			}
		}
		for at := 8; at < encodedFilterHead; at++ { // the sizes
			damaged := bytes.Clone(encoded.Bytes())
			damaged[at] ^= 1
			if _, used, err := decodeFilter(damaged, memory); err == nil || len(used) != len(memory) {
				t.Errorf("%d keys, byte %d changed: %v", keys, at, err)
			}
		}
		if _, _, err := decodeFilter(append(encoded.Bytes(), 0, 0), memory); err == nil {
			t.Errorf("%d keys: a filter that is too long was decoded", keys)
		}
	}
}

func randomKeys(random *rand.Rand, count int) []uint64 {
	keys := make([]uint64, count)
	for i := range keys {
		keys[i] = random.Uint64()
	}
	return keys
}

// benchmarkedFile returns a file in memory alone, with filters as large as those of 33 million leads with two
// duplicate values each. Its fingerprints are random, so it has almost no key.
func benchmarkedFile(b *testing.B, random *rand.Rand, prepare func([]uint16)) *File {
	f := &File{shape: Shape{Shards: 1024, RowBytes: []int{96, 36, 45}}}
	f.filters = make([]filter, f.shape.parts())
	total := 0
	for kind, rows := range []int{32_500, 65_000, 32_500} {
		of := must.Value(xorfilter.NewBinaryFuse[uint16](randomKeys(random, rows)))(b)
		for shard := range f.shape.Shards {
			f.filters[f.partIndex(kind, shard)] = *of
			total += len(of.Fingerprints)
		}
	}
	memory := make([]uint16, total)
	prepare(memory)
	for i := range memory {
		memory[i] = uint16(random.Uint32())
	}
	for i := range f.filters {
		of := &f.filters[i]
		of.Fingerprints, memory = memory[:len(of.Fingerprints)], memory[len(of.Fingerprints):]
	}
	return f
}

// BenchmarkMissingKeys looks for the keys of a new lead in three files: its idempotency key and two duplicate values.
// Between two leads it reads and writes other memory, as the rest of an ingest does. The case "none" measures that alone.
func BenchmarkMissingKeys(b *testing.B) {
	for name, prepare := range map[string]func([]uint16){"none": nil, "huge pages": useHugePages, "small pages": useSmallPages} {
		b.Run(name, func(b *testing.B) {
			random, other := rand.New(rand.NewPCG(7, 7)), make([]byte, 1<<20)
			var files []*File
			for len(files) < 3 && prepare != nil {
				files = append(files, benchmarkedFile(b, random, prepare))
			}
			found := 0
			for b.Loop() {
				for i := 0; i < len(other); i += 64 {
					other[i]++
				}
				var keys [3][KeyBytes]byte
				for i := range keys {
					for at := range keys[i] {
						keys[i][at] = byte(random.Uint32())
					}
				}
				for _, f := range files {
					for i, kind := range []int{2, 1, 1} {
						if f.MayHave(kind, (int(keys[i][14])<<8|int(keys[i][15]))%f.shape.Shards, keys[i]) {
							found++
						}
					}
				}
			}
			if found > b.N/100+10 {
				b.Errorf("%d keys were found", found)
			}
		})
	}
}
