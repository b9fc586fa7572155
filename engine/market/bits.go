package market

import "math/bits"

// Bits is a set of small numbers, such as places in a campaign's lineup. Its
// capacity is fixed when it is made; a number beyond it is the caller's bug and
// panics.
type Bits []uint64

const bitsInWord = 64

// NewBits makes an empty set for the numbers 0 to n-1.
func NewBits(n int) Bits { return make(Bits, (n+bitsInWord-1)/bitsInWord) }

// Set puts i into the set.
func (b Bits) Set(i int) { b[i/bitsInWord] |= 1 << (uint(i) % bitsInWord) }

// Clear takes i out of the set.
func (b Bits) Clear(i int) { b[i/bitsInWord] &^= 1 << (uint(i) % bitsInWord) }

// Has tells whether i is in the set.
func (b Bits) Has(i int) bool { return b[i/bitsInWord]>>(uint(i)%bitsInWord)&1 != 0 }

// And leaves only what is in the other set too. The other is at least as long.
func (b Bits) And(other Bits) {
	other = other[:len(b)]
	for i := range b {
		b[i] &= other[i]
	}
}

// AndNot takes out what is in the other set. The other is at least as long.
func (b Bits) AndNot(other Bits) {
	other = other[:len(b)]
	for i := range b {
		b[i] &^= other[i]
	}
}

// Count is how many numbers are in the set.
func (b Bits) Count() int {
	n := 0
	for _, word := range b {
		n += bits.OnesCount64(word)
	}
	return n
}

// Next is the least number in the set that is i or more, or -1. A walk:
//
//	for i := b.Next(0); i >= 0; i = b.Next(i + 1) { … }
func (b Bits) Next(i int) int {
	at := i / bitsInWord
	if at >= len(b) {
		return -1
	}
	word := b[at] >> (uint(i) % bitsInWord) << (uint(i) % bitsInWord)
	for word == 0 {
		at++
		if at == len(b) {
			return -1
		}
		word = b[at]
	}
	return at*bitsInWord + bits.TrailingZeros64(word)
}

// Fill makes the set exactly 0 to n-1.
func (b Bits) Fill(n int) {
	clear(b)
	whole := n / bitsInWord
	for i := range whole {
		b[i] = ^uint64(0)
	}
	if rest := uint(n) % bitsInWord; rest > 0 {
		b[whole] = 1<<rest - 1
	}
}
