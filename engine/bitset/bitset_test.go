package bitset

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// members returns the members of a set.
func members(b Set) []int {
	all := []int{}
	for i := b.NextFrom(0); i >= 0; i = b.NextFrom(i + 1) {
		all = append(all, i)
	}
	return all
}

func TestFillBelow(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 65, 128, 1000} {
		b := New(n)
		b.ResetToAllBelow(n)
		if got := members(b); len(got) != n || b.Count() != n {
			t.Errorf("FillBelow(%d): %d members, Count is %d", n, len(got), b.Count())
		}
	}
	b := New(200)
	b.ResetToAllBelow(200)
	b.ResetToAllBelow(70)
	if b.Count() != 70 || b.Has(70) || !b.Has(69) {
		t.Errorf("filled again with 70: %d members", b.Count())
	}
	if got := New(0).NextFrom(0); got != -1 {
		t.Errorf("the empty set has member %d", got)
	}
}

func TestSetMatchesMap(t *testing.T) {
	type set = map[int]bool
	sorted := func(s set) []int {
		all := []int{}
		for i := range s {
			all = append(all, i)
		}
		slices.Sort(all)
		return all
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "n")
		place := rapid.IntRange(0, n-1)
		draw := func(name string) (Set, set) {
			b, s := New(n), set{}
			for _, i := range rapid.SliceOf(place).Draw(t, name) {
				b.Add(i)
				s[i] = true
			}
			return b, s
		}
		b, model := draw("set")
		other, otherModel := draw("other")
		t.Repeat(map[string]func(*rapid.T){
			"set":   func(t *rapid.T) { i := place.Draw(t, "i"); b.Add(i); model[i] = true },
			"clear": func(t *rapid.T) { i := place.Draw(t, "i"); b.Remove(i); delete(model, i) },
			"and not": func(*rapid.T) {
				b.RemoveAll(other)
				for i := range otherModel {
					delete(model, i)
				}
			},
			"": func(t *rapid.T) {
				i := place.Draw(t, "member")
				if b.HasAnyOf(other) != slices.ContainsFunc(sorted(otherModel), func(i int) bool { return model[i] }) {
					t.Fatalf("%v and %v: %t", members(b), members(other), b.HasAnyOf(other))
				}
				if b.Has(i) != model[i] || b.Count() != len(model) || !slices.Equal(members(b), sorted(model)) {
					t.Fatalf("%v, want %v", members(b), sorted(model))
				}
			},
		})
	})
}
