package disk

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
)

// NameLoss is the way in which name changes are lost.
type NameLoss int

// The package comment describes the three ways.
const (
	Ordered NameLoss = iota
	Scattered
	Twice
	orderCount
)

func (o NameLoss) String() string { return [...]string{"ordered", "scattered", "twice"}[o] }

// Image is a possible content of the disk after a power loss.
type Image struct {
	Order       NameLoss
	LostNames   int   // name changes that took effect and are lost
	LostWrites  int   // writes that took effect and are lost, at least in part
	LostBytes   int64 // size of these writes
	Torn        int   // torn pages
	root        *node
	names       map[*node]map[string]*node
	texts       map[*node][]byte
	at          int
	keep        float64 // share of the unsynced changes that stays
	random      *rand.Rand
	nameChanges []nameChange
}

// LosePower draws one possible content after a power loss at a tick.
func (d *Disk) LosePower(atTick int, random *rand.Rand) *Image {
	order := NameLoss(random.IntN(int(orderCount)))
	return d.drawImage(atTick, order, []float64{0, 1, 0.5, random.Float64()}[random.IntN(4)], random)
}

// IntactImage returns the content at a tick without any loss, as on a machine that keeps its power.
func (d *Disk) IntactImage(atTick int) *Image {
	return d.drawImage(atTick, Ordered, 1, rand.New(rand.NewPCG(0, 0)))
}

func (d *Disk) drawImage(atTick int, order NameLoss, keptShare float64, random *rand.Rand) *Image {
	m := &Image{
		Order: order, root: d.root, at: atTick, random: random, keep: keptShare,
		names: map[*node]map[string]*node{}, texts: map[*node][]byte{},
	}
	for i := range d.nameChanges {
		if d.nameChanges[i].enter <= atTick {
			m.nameChanges = append(m.nameChanges, d.nameChanges[i])
		}
	}
	m.drawNameChanges()
	m.visit("", func(n *node, _ string) {
		if !n.isFolder {
			m.texts[n] = m.drawFileContent(n)
		}
	})
	return m
}

// visit visits all nodes with a name in the image.
func (m *Image) visit(path string, each func(n *node, path string)) {
	visitNames(m.root, path, func(n *node) map[string]*node { return m.names[n] }, each)
}

func (m *Image) drawKept() bool { return m.random.Float64() < m.keep }

// drawNameChanges draws for each name change whether it stays.
func (m *Image) drawNameChanges() {
	synced := make([]bool, len(m.nameChanges))
	end := 0 // end of the journal's certain part
	for i, one := range m.nameChanges {
		if synced[i] = m.isCertainlyKept(&one); synced[i] {
			end = i + 1
		}
	}
	if m.Order == Ordered {
		switch open := len(m.nameChanges) - end; {
		case m.keep == 1:
			end = len(m.nameChanges)
		case m.keep > 0:
			end += m.random.IntN(open + 1)
		}
	}
	for i := range m.nameChanges {
		one := &m.nameChanges[i]
		there := synced[i] || (m.Order == Ordered && i < end) || (m.Order != Ordered && m.drawKept())
		if !there && one.done <= m.at {
			m.LostNames++
		}
		if there {
			m.applyNameChange(one, synced[i] || m.Order == Ordered)
		}
	}
}

// isCertainlyKept reports whether no power loss undoes a name change. A durable new name of a
// rename implies the whole rename, except for Twice, where the old name may remain.
func (m *Image) isCertainlyKept(one *nameChange) bool {
	return (one.to != nil && one.to.isDurable(one.done, m.at)) || (one.from != nil && one.from.isDurable(one.done, m.at))
}

func (m *Image) applyNameChange(one *nameChange, certain bool) {
	if one.from != nil {
		if !certain && m.names[one.from][one.old] != one.node {
			return // the name that it changes was lost
		}
		stays := m.Order == Twice && one.to != nil && !one.from.isDurable(one.done, m.at) && m.drawKept()
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

// Write writes the image into an empty directory.
func (m *Image) Write(path string) (err error) {
	m.visit(path, func(n *node, path string) {
		if n.isFolder {
			err = errors.Join(err, os.MkdirAll(path, 0o700))
		} else {
			err = errors.Join(err, os.WriteFile(path, m.texts[n], 0o600))
		}
	})
	return err
}

func (m *Image) String() string {
	return fmt.Sprintf("%s, %.2f kept: %d names, %d writes of %d bytes lost, %d pages torn",
		m.Order, m.keep, m.LostNames, m.LostWrites, m.LostBytes, m.Torn)
}
