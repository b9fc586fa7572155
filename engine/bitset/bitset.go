// Package bitset holds sets of small numbers, one bit each.
package bitset

import "math/bits"

// Set is a set of small numbers from 0, such as indexes in a campaign's filter sets. Its capacity
// is fixed when it is made. A larger number is a bug of the caller and panics.
type Set []uint64

const WordBits = 64

// New returns an empty set that can hold the numbers 0 to n-1.
func New(n int) Set { return make(Set, (n+WordBits-1)/WordBits) }

// Add adds i to the set.
func (b Set) Add(i int) { b[i/WordBits] |= 1 << (uint(i) % WordBits) }

// Remove removes i from the set.
func (b Set) Remove(i int) { b[i/WordBits] &^= 1 << (uint(i) % WordBits) }

// Has reports whether i is in the set.
func (b Set) Has(i int) bool { return b[i/WordBits]>>(uint(i)%WordBits)&1 != 0 }

// RemoveAll removes the numbers from b that are in other. other must be at least as long as b.
func (b Set) RemoveAll(other Set) {
	other = other[:len(b)]
	for i := range b {
		b[i] &^= other[i]
	}
}

// HasAnyOf reports whether a number is in both sets. b must be at least as long as other.
func (b Set) HasAnyOf(other Set) bool {
	for i := range other {
		if b[i]&other[i] != 0 {
			return true
		}
	}
	return false
}

// Count returns how many numbers are in the set.
func (b Set) Count() int {
	n := 0
	for _, word := range b {
		n += bits.OnesCount64(word)
	}
	return n
}

// NextFrom returns the smallest number in the set that is at least from, or -1 if there is none. A
// loop over all numbers:
//
//	for i := b.NextFrom(0); i >= 0; i = b.NextFrom(i + 1) { … }
func (b Set) NextFrom(from int) (memberOrMinusOne int) {
	at := from / WordBits
	if at >= len(b) {
		return -1
	}
	word := b[at] >> (uint(from) % WordBits) << (uint(from) % WordBits)
	for word == 0 {
		at++
		if at == len(b) {
			return -1
		}
		word = b[at]
	}
	return at*WordBits + bits.TrailingZeros64(word)
}

// ResetToAllBelow makes the set contain exactly the numbers 0 to limit-1.
func (b Set) ResetToAllBelow(limit int) {
	clear(b)
	whole := limit / WordBits
	for i := range whole {
		b[i] = ^uint64(0)
	}
	if rest := uint(limit) % WordBits; rest > 0 {
		b[whole] = 1<<rest - 1
	}
}
