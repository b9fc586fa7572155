package main

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"pingpost/fuzz/powerloss/disk"
)

// point is one loss of power: a tick of a life, and how the disk lost.
type point struct {
	life int
	tick int
	seed uint64
}

// losses adds up what was tried and what the disk lost in it.
type losses struct {
	points, served        int
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
// rarer than a write to the log is under way.
func (r *recording) points(n int, chance *rand.Rand) []point {
	drawn := make([]point, 0, n)
	for range n {
		p := point{life: chance.IntN(len(r.lives)), seed: chance.Uint64()}
		ticks := r.lives[p.life].ticks
		if rare := r.lives[p.life].rare; chance.IntN(2) == 0 && len(rare) > 0 {
			ticks = rare
		}
		if len(ticks) == 0 {
			ticks = []int{r.lives[p.life].to}
		}
		p.tick = ticks[chance.IntN(len(ticks))]
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
func (r *recording) rebuild(p point, folder string, sum *losses) error {
	l := r.lives[p.life]
	image := r.image(p)
	if err := errors.Join(os.RemoveAll(folder), image.Write(folder)); err != nil {
		return err
	}
	sum.add(image)
	o, err := open(folder)
	if err != nil {
		return r.keep(p, fmt.Errorf("it does not open: %w", err))
	}
	sum.entries += uint64(len(l.truth.entries) - len(o.entries))
	if torn, _ := filepath.Glob(filepath.Join(folder, "damage", "*.torn")); len(torn) > 0 {
		sum.torns++
	}
	if err := o.judge(l, p.tick); err != nil {
		return r.keep(p, errors.Join(err, o.log.Close()))
	}
	if err := o.goOn(); err != nil {
		return r.keep(p, fmt.Errorf("it does not go on: %w", err))
	}
	return nil
}

func (r *recording) image(p point) *disk.Image {
	return r.lives[p.life].disk.Lose(p.tick, rand.New(rand.NewPCG(p.seed, 0)))
}

// keep keeps the folder as the disk had it.
func (r *recording) keep(p point, err error) error {
	f := &failure{point: p, err: err, folder: filepath.Join(r.folder, fmt.Sprintf("lost-%d-%d", p.tick, p.seed))}
	image := r.image(p)
	f.lost = image.String()
	if kept := image.Write(filepath.Join(f.folder, "data")); kept != nil {
		return errors.Join(f, kept)
	}
	return errors.Join(f, os.WriteFile(filepath.Join(f.folder, "exchange.json"), []byte(r.lives[p.life].config), 0o600))
}
