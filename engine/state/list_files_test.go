package state

import (
	"slices"
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

func TestUsedSuppressionFileHashes(t *testing.T) {
	s := New()
	if files := s.SuppressionFileHashesInUse(); len(files) != 0 {
		t.Errorf("files %v before any list, want none", files)
	}
	for i, row := range []struct {
		list market.PermanentNumber
		file string
		want []string
	}{
		{1, "b", []string{"b"}},
		{2, "a", []string{"a", "b"}},
		{3, "b", []string{"a", "b"}},
		{1, "c", []string{"a", "b", "c"}},
		{3, "c", []string{"a", "c"}},
	} {
		s.Apply(uint64(i+1), int64(i+1), &event.SuppressionListContentLoaded{List: row.list, File: row.file, Entries: 1})
		if files := s.SuppressionFileHashesInUse(); !slices.Equal(files, row.want) {
			t.Errorf("step %d: %v, want %v", i, files, row.want)
		}
	}
}
