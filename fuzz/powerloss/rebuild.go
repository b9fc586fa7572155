package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"pingpost/fuzz/powerloss/disk"
)

// point is one loss of power: a tick of a life, and how the disks lost.
type point struct {
	life   int
	tick   int
	seed   uint64
	backup bool // is judged too
	spared bool // the backup's disk lost nothing
}

// losses adds up what was tried and what the disk lost in it.
type losses struct {
	points, served        int
	backups, spared, kept int // points at which it was judged; of these, on a disk that lost nothing; with something said to be in it
	lost                  int // exchanges that were started from their backup alone
	orders                map[disk.Order]int
	names, writes, torn   int
	mostNames, mostWrites int
	bytes, mostBytes      int64
	entries               uint64 // that were written and in no log: nobody was told of them
	torns                 int    // logs whose end was cut at the start
}

func (l *losses) add(m *disk.Image) {
	if l.orders == nil {
		l.orders = map[disk.Order]int{}
	}
	l.points++
	l.orders[m.Order]++
	l.names, l.writes, l.bytes, l.torn = l.names+m.LostNames, l.writes+m.LostWrites, l.bytes+m.LostBytes, l.torn+m.Torn
	l.mostNames, l.mostWrites, l.mostBytes = max(l.mostNames, m.LostNames), max(l.mostWrites, m.LostWrites), max(l.mostBytes, m.LostBytes)
}

// points draws where the power goes: half of them anywhere, half where something
// rarer than a write to the log is under way. At so many the backup is judged too; of
// those each second is where something of it is under way.
func (r *recording) points(n, backups int, chance *rand.Rand) []point {
	drawn := make([]point, 0, n)
	for i := range n {
		p := point{life: chance.IntN(len(r.lives)), seed: chance.Uint64(), backup: i < backups, spared: i%4 == 0}
		l := r.lives[p.life]
		if p.backup && i%2 == 0 {
			p.tick = l.shipping.draw(chance, l.to)
		} else {
			p.tick = l.busy.draw(chance, l.to)
		}
		drawn = append(drawn, p)
	}
	slices.SortStableFunc(drawn, func(a, b point) int { return cmp.Compare(a.tick, b.tick) }) // what has to be replayed grows
	return drawn
}

// failure is a point at which a promise was broken.
type failure struct {
	point
	folder string // as the disk had it
	lost   string
	err    error
}

func (f *failure) Error() string {
	return fmt.Sprintf("life %d, tick %d, loss %d (%s): %v\n  the folder as the disk had it: %s", f.life+1, f.tick, f.seed, f.lost, f.err, f.folder)
}

// rebuild makes what is left at a point, in the folder given, opens and judges it.
func (r *recording) rebuild(ctx context.Context, p point, folder string, sum *losses) error {
	l := r.lives[p.life]
	left := l.lose(&p)
	if err := errors.Join(os.RemoveAll(folder), left.write(folder)); err != nil {
		return err
	}
	sum.add(left.data)
	o, err := open(dataIn(folder))
	if err != nil {
		return r.keep(p, fmt.Errorf("it does not open: %w", err))
	}
	sum.entries += uint64(len(l.truth.entries) - len(o.entries))
	if torn, _ := filepath.Glob(filepath.Join(dataIn(folder), "damage", "*.torn")); len(torn) > 0 {
		sum.torns++
	}
	if err := o.judge(l.truth, l.promised(p.tick)); err != nil {
		return r.keep(p, errors.Join(err, o.log.Close()))
	}
	var backUp func() error
	if p.backup {
		s, err := r.openSpare(folder)
		if err != nil {
			return errors.Join(err, o.log.Close())
		}
		kept := l.kept(p.tick)
		sum.backup(p, kept)
		if err := s.judge(ctx, o, l.truth, kept, rand.New(rand.NewPCG(p.seed, 2))); err != nil {
			return r.keep(p, errors.Join(err, o.log.Close()))
		}
		if o.founded() {
			backUp = func() error { return s.shipOn(ctx, o) }
		}
	}
	if err := o.goOn(backUp); err != nil {
		return r.keep(p, fmt.Errorf("it does not go on: %w", err))
	}
	return nil
}

// backup counts a point at which the backup is judged.
func (l *losses) backup(p point, kept promises) {
	l.backups++
	if p.spared {
		l.spared++
	}
	if kept.entry > 0 {
		l.kept++
	}
}

// keep keeps the folders as the disks had them, and what the program needs to go on
// with them.
func (r *recording) keep(p point, err error) error {
	f := &failure{point: p, err: err, folder: filepath.Join(r.folder, fmt.Sprintf("lost-%d-%d", p.tick, p.seed))}
	l := r.lives[p.life]
	left := l.lose(&p)
	f.lost = left.String()
	return errors.Join(f, left.write(f.folder), copyKey(r.folder, f.folder), os.WriteFile(filepath.Join(f.folder, "exchange.json"), []byte(l.config), 0o600))
}
