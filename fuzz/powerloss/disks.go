package main

import (
	"errors"
	"math/rand/v2"
	"path/filepath"

	"pingpost/fuzz/powerloss/disk"
)

// disks are what is written to: the exchange's folder, and the place that has the
// backup's folder in it. Each loses by itself, in one manner. Where both are on one
// disk with one journal less is possible, and nothing else.
type disks struct{ data, place *disk.Disk }

func dataIn(folder string) string  { return filepath.Join(folder, "data") }
func placeIn(folder string) string { return filepath.Join(folder, "place") }

// load takes both for durable as they lie in a folder.
func (d *disks) load(folder string) (err error) {
	if d.data, err = disk.Load(dataIn(folder)); err != nil {
		return err
	}
	d.place, err = disk.Load(placeIn(folder))
	return err
}

// left is what a loss of power leaves of them.
type left struct{ data, place *disk.Image }

// lose takes the power at a point. A place that is spared is on a machine that has it.
func (d *disks) lose(p *point) *left {
	manner := func() *rand.Rand { return rand.New(rand.NewPCG(p.seed, 0)) }
	l := &left{data: d.data.Lose(p.tick, manner())}
	if p.spared {
		l.place = d.place.Intact(p.tick)
	} else {
		l.place = d.place.Lose(p.tick, manner())
	}
	return l
}

// write puts what is left into a folder.
func (l *left) write(folder string) error {
	return errors.Join(l.data.Write(dataIn(folder)), l.place.Write(placeIn(folder)))
}

func (l *left) String() string { return l.data.String() + "; of the backup " + l.place.String() }

// moments are the ticks at which something of a disk was under way.
type moments struct {
	all  []int
	rare []int // other than writes to the log's last segment
}

// draw draws one, half of the time a rare one; otherwise where there is none.
func (m *moments) draw(chance *rand.Rand, otherwise int) int {
	ticks := m.all
	if chance.IntN(2) == 0 && len(m.rare) > 0 {
		ticks = m.rare
	}
	if len(ticks) == 0 {
		return otherwise
	}
	return ticks[chance.IntN(len(ticks))]
}
