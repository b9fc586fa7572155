package disk

// fileLoss is the way in which the unsynced writes of a file are lost.
type fileLoss int

const (
	loseAll         fileLoss = iota // all unsynced writes are lost
	loseNone                        // all writes stay
	loseBytes                       // only the size stays; zeros replace the bytes
	cutAfter                        // the writes end within one of them, which is torn
	mixPages                        // each page has the state of some moment
	mixPagesAndSize                 // so do the pages and the size
	fileLosses
)

// pageVersion is the version of a page: it has the first headChanges changes up to cutByte, and
// the first tailChanges changes from there on.
type pageVersion struct{ headChanges, cutByte, tailChanges int }

// drawFileContent draws a file's content.
func (m *Image) drawFileContent(n *node) []byte {
	kept := n.durableChangeCount(m.at)
	var open []fileChange
	for _, c := range n.changes[kept:] {
		if c.enter <= m.at {
			open = append(open, c)
		}
	}
	text := contentAfter(n.changes[:kept])
	if len(open) == 0 {
		return text
	}
	how := fileLoss(m.random.IntN(int(fileLosses)))
	switch m.keep {
	case 0:
		how = loseAll
	case 1:
		how = loseNone
	}
	sizes := sizesAfterChanges(int64(len(text)), open)
	last, upTo := len(open), m.random.IntN(len(open)+1)
	drawn := map[int64]pageVersion{}
	draw := func(page int64) pageVersion {
		v, known := drawn[page]
		if !known {
			v = m.drawPageVersion(how, last, upTo)
			drawn[page] = v
		}
		return v
	}
	size := sizes[last]
	switch how {
	case loseAll:
		size = sizes[0]
	case cutAfter:
		size = sizes[upTo]
		if upTo < last {
			size += m.random.Int64N(max(1, sizes[upTo+1]-size+1))
		}
	case mixPagesAndSize:
		size = sizes[m.random.IntN(last+1)]
	}
	lost := map[int]bool{}
	for i := range open {
		text = open[i].applyPages(text, func(page int64) (from, to int64) {
			v := draw(page)
			from, to = 0, pageSize
			if i >= v.headChanges {
				from = int64(v.cutByte)
			}
			if i >= v.tailChanges {
				to = int64(v.cutByte)
			}
			return from, to
		}, func() { lost[i] = true })
	}
	m.countLosses(open, lost, drawn, size)
	return resize(text, size)
}

// drawPageVersion draws a page's version.
func (m *Image) drawPageVersion(how fileLoss, last, upTo int) pageVersion {
	v := pageVersion{headChanges: last, cutByte: pageSize, tailChanges: last}
	switch how {
	case loseAll, loseBytes:
		v.headChanges, v.tailChanges = 0, 0
	case cutAfter:
		v.headChanges, v.tailChanges = min(last, upTo+1), upTo
		v.cutByte = m.random.IntN(pageSize + 1)
	case mixPages, mixPagesAndSize:
		v.headChanges = m.random.IntN(last + 1)
		if v.tailChanges = v.headChanges; m.random.IntN(4) == 0 {
			v.tailChanges, v.cutByte = m.random.IntN(last+1), m.random.IntN(pageSize)
		}
	}
	return v
}

// sizesAfterChanges returns the file's sizes before the first change and after each.
func sizesAfterChanges(size int64, open []fileChange) []int64 {
	sizes := append(make([]int64, 0, 1+len(open)), size)
	for i := range open {
		size = open[i].sizeAfter(size)
		sizes = append(sizes, size)
	}
	return sizes
}

// applyPages applies a change page by page, as far as part allows. It calls missing for each
// page that does not get all of it.
func (c *fileChange) applyPages(text []byte, part func(page int64) (from, to int64), missing func()) []byte {
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

// countLosses adds a file's losses to the image's counters.
func (m *Image) countLosses(open []fileChange, lost map[int]bool, drawn map[int64]pageVersion, size int64) {
	for i := range open {
		if c := &open[i]; c.done <= m.at && (lost[i] || c.off+int64(len(c.data)) > size) {
			m.LostWrites++
			m.LostBytes += int64(len(c.data))
		}
	}
	for _, v := range drawn {
		if v.headChanges != v.tailChanges && v.cutByte > 0 && v.cutByte < pageSize {
			m.Torn++
		}
	}
}
