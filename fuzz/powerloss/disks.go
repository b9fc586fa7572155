package main

import (
	"errors"
	"math/rand/v2"
	"path/filepath"

	"pingpost/fuzz/powerloss/disk"
)

// disks are the two modeled disks: the exchange's data directory and the disk with the backup.
// Both lose power in the same way, each on its own. If they were one disk with one journal,
// fewer combinations would be possible, and no others.
type disks struct{ data, backup *disk.Disk }

func dataDir(folder string) string       { return filepath.Join(folder, "data") }
func backupDiskDir(folder string) string { return filepath.Join(folder, "place") }

// load loads both disks from a folder as durable.
func (d *disks) load(folder string) (err error) {
	if d.data, err = disk.Load(dataDir(folder)); err != nil {
		return err
	}
	d.backup, err = disk.Load(backupDiskDir(folder))
	return err
}

// diskImages are the contents that a power loss leaves.
type diskImages struct{ data, backup *disk.Image }

// losePower takes the power at a point. If backupIntact is set, the backup's disk is in another
// machine, which keeps its power.
func (d *disks) losePower(p *lossPoint) *diskImages {
	manner := func() *rand.Rand { return rand.New(rand.NewPCG(p.seed, 0)) }
	l := &diskImages{data: d.data.LosePower(p.tick, manner())}
	if p.backupIntact {
		l.backup = d.backup.IntactImage(p.tick)
	} else {
		l.backup = d.backup.LosePower(p.tick, manner())
	}
	return l
}

// write writes both images into a folder.
func (l *diskImages) write(folder string) error {
	return errors.Join(l.data.Write(dataDir(folder)), l.backup.Write(backupDiskDir(folder)))
}

func (l *diskImages) String() string { return l.data.String() + "; backup: " + l.backup.String() }

// activeTicks are the ticks at which a disk changes.
type activeTicks struct {
	all  []int
	rare []int // not a write to the log's last segment
}

// drawTick draws a tick, half of the time a rare one. It returns fallback if it has no ticks.
func (m *activeTicks) drawTick(random *rand.Rand, fallback int) int {
	ticks := m.all
	if random.IntN(2) == 0 && len(m.rare) > 0 {
		ticks = m.rare
	}
	if len(ticks) == 0 {
		return fallback
	}
	return ticks[random.IntN(len(ticks))]
}
