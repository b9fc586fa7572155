// Package bitset holds sets of small numbers, one bit each.
package bitset

import "math/bits"

// Set is a set of small numbers, such as positions in a campaign's filter sets. Its
// capacity is fixed when it is made; a number beyond it is a bug of the caller and panics.
type Set []uint64

const WordBits = 64

// New returns an empty set for the numbers 0 to n-1.
func New(n int) Set { return make(Set, (n+WordBits-1)/WordBits) }

// Add adds i to the set.
func (b Set) Add(i int) { b[i/WordBits] |= 1 << (uint(i) % WordBits) }

// Remove removes i from the set.
func (b Set) Remove(i int) { b[i/WordBits] &^= 1 << (uint(i) % WordBits) }

// Has reports whether i is in the set.
func (b Set) Has(i int) bool { return b[i/WordBits]>>(uint(i)%WordBits)&1 != 0 }

// IntersectWith removes the numbers that are not in the other set. The other is at least as long.
func (b Set) IntersectWith(other Set) {
	other = other[:len(b)]
	for i := range b {
		b[i] &= other[i]
	}
}

// RemoveAll removes the numbers of the other set. The other is at least as long.
func (b Set) RemoveAll(other Set) {
	other = other[:len(b)]
	for i := range b {
		b[i] &^= other[i]
	}
}

// Count returns the number of elements.
func (b Set) Count() int {
	n := 0
	for _, word := range b {
		n += bits.OnesCount64(word)
	}
	return n
}

// NextFrom is the least number in the set that is i or more, or -1. A walk:
//
//	for i := b.NextFrom(0); i >= 0; i = b.NextFrom(i + 1) { … }
func (b Set) NextFrom(i int) int {
	at := i / WordBits
	if at >= len(b) {
		return -1
	}
	word := b[at] >> (uint(i) % WordBits) << (uint(i) % WordBits)
	for word == 0 {
		at++
		if at == len(b) {
			return -1
		}
		word = b[at]
	}
	return at*WordBits + bits.TrailingZeros64(word)
}

// FillUpTo sets the content to exactly 0 to n-1.
func (b Set) FillUpTo(n int) {
	clear(b)
	whole := n / WordBits
	for i := range whole {
		b[i] = ^uint64(0)
	}
	if rest := uint(n) % WordBits; rest > 0 {
		b[whole] = 1<<rest - 1
	}
}
