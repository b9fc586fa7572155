package market

// posting is the sets that name one value: their numbers ascending, or, once
// that list would be longer than a mask of all sets, the mask.
type posting struct {
	few  []uint32
	many Bits
}

// clearFrom clears the posting's sets.
func (p *posting) clearFrom(dst Bits) {
	if p.many != nil {
		dst.AndNot(p.many)
		return
	}
	for _, set := range p.few {
		dst.Clear(int(set))
	}
}

// keepOf clears those of all's sets that are not in the posting.
func (p *posting) keepOf(all, dst Bits) {
	few := p.few
	for i, word := range all {
		var kept uint64
		if p.many != nil {
			kept = p.many[i]
		}
		for len(few) > 0 && int(few[0]/bitsInWord) == i {
			kept |= 1 << (few[0] % bitsInWord)
			few = few[1:]
		}
		dst[i] &^= word &^ kept
	}
}

// valueIndex finds the sets that name a value, by the rules of valueSet.
type valueIndex struct {
	texts   map[string]*posting
	numbers map[float64]*posting
}

// unnamed is the posting of a value that no set names.
var unnamed posting

func (x *valueIndex) at(v *Value) (p *posting) {
	if v.isNumber() {
		p = x.numbers[v.Num]
	} else {
		p = x.texts[string(v.Text)]
	}
	if p == nil {
		return &unnamed
	}
	return p
}

// add enters a set's values; sets come in ascending order. A nil set of values
// names none.
func (x *valueIndex) add(set int, values *valueSet) {
	if values == nil {
		return
	}
	if x.texts == nil {
		x.texts, x.numbers = map[string]*posting{}, map[float64]*posting{}
	}
	for text := range values.texts {
		x.texts[text] = x.texts[text].with(set)
	}
	for number := range values.numbers {
		x.numbers[number] = x.numbers[number].with(set)
	}
}

func (p *posting) with(set int) *posting {
	if p == nil {
		p = new(posting)
	}
	if n := len(p.few); n == 0 || p.few[n-1] != uint32(set) {
		p.few = append(p.few, uint32(set))
	}
	return p
}

// seal turns long postings into masks of so many words.
func (x *valueIndex) seal(words int) {
	for _, p := range x.texts {
		p.seal(words)
	}
	for _, p := range x.numbers {
		p.seal(words)
	}
}

func (p *posting) seal(words int) {
	if len(p.few) <= 2*words { // as many bytes
		return
	}
	p.many = make(Bits, words)
	for _, set := range p.few {
		p.many.Set(int(set))
	}
	p.few = nil
}
