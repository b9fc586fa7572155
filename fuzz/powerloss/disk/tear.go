package disk

// manner is how the writes of one file are lost.
type manner int

const (
	nothing manner = iota // is there of what was not synced
	whole                 // is it all
	grown                 // the size alone: zeros where the bytes should be
	cut                   // as after some write, and that one is torn
	pages                 // each page is as it was at some time
	sized                 // so are they, and so is the size
	manners
)

// version is what a page has of a file's open changes: those before one number up
// to a byte, and those before another from there on.
type version struct{ head, cut, tail int }

// lose draws what a file has.
func (m *Image) lose(n *node) []byte {
	kept := n.durable(m.at)
	var open []change
	for _, c := range n.changes[kept:] {
		if c.enter <= m.at {
			open = append(open, c)
		}
	}
	text := content(n.changes[:kept])
	if len(open) == 0 {
		return text
	}
	how := manner(m.chance.IntN(int(manners)))
	switch m.keep {
	case 0:
		how = nothing
	case 1:
		how = whole
	}
	sizes := sizesOf(int64(len(text)), open)
	last, upTo := len(open), m.chance.IntN(len(open)+1)
	drawn := map[int64]version{}
	draw := func(page int64) version {
		v, known := drawn[page]
		if !known {
			v = m.version(how, last, upTo)
			drawn[page] = v
		}
		return v
	}
	size := sizes[last]
	switch how {
	case nothing:
		size = sizes[0]
	case cut:
		size = sizes[upTo]
		if upTo < last {
			size += m.chance.Int64N(max(1, sizes[upTo+1]-size+1))
		}
	case sized:
		size = sizes[m.chance.IntN(last+1)]
	}
	lost := map[int]bool{}
	for i := range open {
		text = open[i].paged(text, func(page int64) (from, to int64) {
			v := draw(page)
			from, to = 0, pageSize
			if i >= v.head {
				from = int64(v.cut)
			}
			if i >= v.tail {
				to = int64(v.cut)
			}
			return from, to
		}, func() { lost[i] = true })
	}
	m.count(open, lost, drawn, size)
	return resize(text, size)
}

// version draws what a page has.
func (m *Image) version(how manner, last, upTo int) version {
	v := version{head: last, cut: pageSize, tail: last}
	switch how {
	case nothing, grown:
		v.head, v.tail = 0, 0
	case cut:
		v.head, v.tail = min(last, upTo+1), upTo
		v.cut = m.chance.IntN(pageSize + 1)
	case pages, sized:
		v.head = m.chance.IntN(last + 1)
		if v.tail = v.head; m.chance.IntN(4) == 0 {
			v.tail, v.cut = m.chance.IntN(last+1), m.chance.IntN(pageSize)
		}
	}
	return v
}

// sizesOf are the file's sizes, before the first change and after each.
func sizesOf(size int64, open []change) []int64 {
	sizes := append(make([]int64, 0, 1+len(open)), size)
	for i := range open {
		size = open[i].after(size)
		sizes = append(sizes, size)
	}
	return sizes
}

// paged applies a change page by page, of each page as much as part says, and tells
// of each that did not get all of it.
func (c *change) paged(text []byte, part func(page int64) (from, to int64), missing func()) []byte {
	from, data := c.off, c.data
	if data == nil { // zeros from the new size on
		if c.size >= int64(len(text)) {
			return resize(text, c.size)
		}
		from, data = c.size, make([]byte, int64(len(text))-c.size)
	}
	end := from + int64(len(data))
	text = resize(text, max(int64(len(text)), end))
	for page := from / pageSize; page*pageSize < end; page++ {
		low, high := part(page)
		first, last := max(from, page*pageSize), min(end, (page+1)*pageSize)
		low, high = max(first, page*pageSize+low), min(last, page*pageSize+high)
		if low < high {
			copy(text[low:high], data[low-from:high-from])
		}
		if low > first || high < last {
			missing()
		}
	}
	return text
}

// count adds up what was lost of a file.
func (m *Image) count(open []change, lost map[int]bool, drawn map[int64]version, size int64) {
	for i := range open {
		if c := &open[i]; c.done <= m.at && (lost[i] || c.off+int64(len(c.data)) > size) {
			m.LostWrites++
			m.LostBytes += int64(len(c.data))
		}
	}
	for _, v := range drawn {
		if v.head != v.tail && v.cut > 0 && v.cut < pageSize {
			m.Torn++
		}
	}
}
