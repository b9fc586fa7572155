package disk

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// Order is how changes of names are lost.
type Order int

// The three ways: see the package's comment.
const (
	Ordered Order = iota
	Scattered
	Twice
	orders
)

func (o Order) String() string { return [...]string{"ordered", "scattered", "twice"}[o] }

// An Image is what the disk could have after the power went.
type Image struct {
	Order      Order
	LostNames  int   // changes of names that had happened and are not there
	LostWrites int   // writes that had happened and are not there as they were
	LostBytes  int64 // that were written in them
	Torn       int   // pages
	root       *node
	names      map[*node]map[string]*node
	texts      map[*node][]byte
	at         int
	keep       float64 // how much of what may be lost is there
	chance     *rand.Rand
	moves      []move
}

// Lose draws what is left of all that had happened, or begun, at a tick.
func (d *Disk) Lose(at int, chance *rand.Rand) *Image {
	order := Order(chance.IntN(int(orders)))
	return d.image(at, order, []float64{0, 1, 0.5, chance.Float64()}[chance.IntN(4)], chance)
}

// Intact is all that had happened, or begun, at a tick: so it is on the disk of a
// machine that keeps its power.
func (d *Disk) Intact(at int) *Image {
	return d.image(at, Ordered, 1, rand.New(rand.NewPCG(0, 0)))
}

func (d *Disk) image(at int, order Order, keep float64, chance *rand.Rand) *Image {
	m := &Image{
		Order: order, root: d.root, at: at, chance: chance, keep: keep,
		names: map[*node]map[string]*node{}, texts: map[*node][]byte{},
	}
	for i := range d.moves {
		if d.moves[i].enter <= at {
			m.moves = append(m.moves, d.moves[i])
		}
	}
	m.loseNames()
	m.visit(m.root, func(n *node) {
		if !n.folder {
			m.texts[n] = m.lose(n)
		}
	})
	return m
}

// visit goes through what has a name, in the same order every time.
func (m *Image) visit(n *node, each func(*node)) {
	each(n)
	names := m.names[n]
	sorted := make([]string, 0, len(names))
	for name := range names {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	for _, name := range sorted {
		m.visit(names[name], each)
	}
}

func (m *Image) stays() bool { return m.chance.Float64() < m.keep }

// loseNames decides of each change of names whether it is there.
func (m *Image) loseNames() {
	synced := make([]bool, len(m.moves))
	end := 0 // of the journal that is certainly there
	for i, one := range m.moves {
		if synced[i] = m.synced(&one); synced[i] {
			end = i + 1
		}
	}
	if m.Order == Ordered {
		switch open := len(m.moves) - end; {
		case m.keep == 1:
			end = len(m.moves)
		case m.keep > 0:
			end += m.chance.IntN(open + 1)
		}
	}
	for i := range m.moves {
		one := &m.moves[i]
		there := synced[i] || (m.Order == Ordered && i < end) || (m.Order != Ordered && m.stays())
		if !there && one.done <= m.at {
			m.LostNames++
		}
		if there {
			m.rename(one, synced[i] || m.Order == Ordered)
		}
	}
}

// synced tells whether a change of names is certainly there. That a rename has
// made its new name durable says all but under Twice, where the old one may stay.
func (m *Image) synced(one *move) bool {
	return (one.to != nil && one.to.covered(one.done, m.at)) || (one.from != nil && one.from.covered(one.done, m.at))
}

func (m *Image) rename(one *move, certain bool) {
	if one.from != nil {
		if !certain && m.names[one.from][one.old] != one.node {
			return // what it was about is not there
		}
		stays := m.Order == Twice && one.to != nil && !one.from.covered(one.done, m.at) && m.stays()
		if m.names[one.from][one.old] == one.node && !stays {
			delete(m.names[one.from], one.old)
		}
	}
	if one.to != nil {
		if m.names[one.to] == nil {
			m.names[one.to] = map[string]*node{}
		}
		m.names[one.to][one.new] = one.node
	}
}

// Write puts the image into an empty folder.
func (m *Image) Write(path string) error { return m.write(m.root, path) }

func (m *Image) write(n *node, path string) error {
	if !n.folder {
		return os.WriteFile(path, m.texts[n], 0o600)
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	for name, below := range m.names[n] {
		if err := m.write(below, filepath.Join(path, name)); err != nil {
			return err
		}
	}
	return nil
}

func (m *Image) String() string {
	return fmt.Sprintf("%s, %.2f kept: %d names, %d writes of %d bytes lost, %d pages torn",
		m.Order, m.keep, m.LostNames, m.LostWrites, m.LostBytes, m.Torn)
}
