package state

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A slab is a slice to whoever looks at its rows; and what it has room for
// follows what it holds, up and down.
func TestSlabIsASlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var rows slab[[3]uint32]
		var model [][3]uint32
		for range rapid.IntRange(1, 8).Draw(t, "stretches") {
			most := min(len(model), 3*chunkRows)
			for range rapid.IntRange(0, most).Draw(t, "pops") {
				rows.pop()
				model = model[:len(model)-1]
			}
			for range rapid.IntRange(0, 3*chunkRows).Draw(t, "pushes") {
				row := [3]uint32{rapid.Uint32().Draw(t, "row"), uint32(len(model)), 1}
				rows.prefetchNextRowMemory()
				if pushed := rows.push(&row); *pushed != row {
					t.Fatalf("pushed %v, there is %v", row, *pushed)
				}
				model = append(model, row)
			}
			rows.prefetchNextRowMemory()
			for i := range model {
				if *rows.at(i) != model[i] {
					t.Fatalf("row %d is %v, want %v", i, *rows.at(i), model[i])
				}
			}
			if got := rows.appendRowsTo([][3]uint32{{7}}); !slices.Equal(got[1:], model) || got[0] != [3]uint32{7} {
				t.Fatalf("%d rows in a copy of %d", len(got)-1, len(model))
			}
			if free := rows.rowCapacity() - rows.n; free > 2*chunkRows {
				t.Fatalf("%d rows, and room for %d more", rows.n, free)
			}
		}
	})
}

// A row stays where it is while others come and go: only the first few move.
func TestSlabMovesNothing(t *testing.T) {
	var rows slab[uint64]
	for n := range uint64(chunkRows) {
		rows.push(&n)
	}
	first, last := rows.at(0), rows.at(chunkRows-1)
	for n := range uint64(5000) {
		rows.push(&n)
	}
	for range 5000 {
		rows.pop()
	}
	if rows.at(0) != first || rows.at(chunkRows-1) != last {
		t.Error("rows of a whole chunk were moved")
	}
}

// A thousand tables with a row each are small.
func TestSlabBeginsSmall(t *testing.T) {
	var rows slab[uint64]
	for n := range uint64(20) {
		rows.push(&n)
		if room := rows.rowCapacity(); room > max(firstChunk, 2*rows.n) {
			t.Fatalf("%d rows have room for %d", rows.n, room)
		}
	}
}

// A length that swings around the border of a chunk allocates nothing.
func TestSlabKeepsOneChunkInReserve(t *testing.T) {
	var rows slab[uint64]
	var row uint64
	for range 3 * chunkRows {
		rows.push(&row)
	}
	if n := testing.AllocsPerRun(100, func() {
		rows.push(&row)
		rows.pop()
		rows.pop()
		rows.push(&row)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
