package state

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A list has the rows of a slice, and its capacity follows its length, up and down.
func TestChunkedRowListMatchesSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var rows chunkedRowList[[3]uint32]
		var model [][3]uint32
		for range rapid.IntRange(1, 8).Draw(t, "rounds") {
			most := min(len(model), 3*chunkRows)
			for range rapid.IntRange(0, most).Draw(t, "pops") {
				rows.pop()
				model = model[:len(model)-1]
			}
			for range rapid.IntRange(0, 3*chunkRows).Draw(t, "pushes") {
				row := [3]uint32{rapid.Uint32().Draw(t, "row"), uint32(len(model)), 1}
				rows.prefetchNextRowMemory()
				if pushed := rows.push(&row); *pushed != row {
					t.Fatalf("pushed %v, got %v", row, *pushed)
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
				t.Fatalf("copied %d rows, want %d", len(got)-1, len(model))
			}
			if free := rows.rowCapacity() - rows.n; free > 2*chunkRows {
				t.Fatalf("%d rows, and capacity for %d more", rows.n, free)
			}
		}
	})
}

// Only rows of the first, growing chunk move.
func TestChunkedRowListDoesNotMoveRowsOfFullChunks(t *testing.T) {
	var rows chunkedRowList[uint64]
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

// A thousand tables with a row each need little memory.
func TestChunkedRowListStartsSmall(t *testing.T) {
	var rows chunkedRowList[uint64]
	for n := range uint64(20) {
		rows.push(&n)
		if capacity := rows.rowCapacity(); capacity > max(firstChunk, 2*rows.n) {
			t.Fatalf("%d rows have capacity for %d", rows.n, capacity)
		}
	}
}

// A length that changes around the border of a chunk allocates no memory.
func TestChunkedRowListKeepsOneChunkInReserve(t *testing.T) {
	var rows chunkedRowList[uint64]
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
