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

// lossPoint is one power loss: a tick of a lifetime, and the seed of the loss.
type lossPoint struct {
	lifetime     int
	tick         int
	seed         uint64
	checksBackup bool // also check the backup
	backupIntact bool // the backup's disk keeps everything
}

// lossStats counts the checks and the losses in them.
type lossStats struct {
	points, served                          int
	backups, intactBackups, promisedBackups int // points with a check of the backup; of these, on an intact disk; with promises about the backup
	restored                                int // exchanges that were started from their backup only
	orders                                  map[disk.NameLoss]int
	lostNames, lostWrites, tornPages        int
	mostNames, mostWrites                   int
	lostBytes, mostBytes                    int64
	lostEntries                             uint64 // written entries that no rebuilt log has; no output relied on them
	tornLogs                                int    // logs with a torn end, cut at the start
	shortened                               int    // nodes of a cluster whose Raft log begins after its first segment
}

func (l *lossStats) add(m *disk.Image) {
	if l.orders == nil {
		l.orders = map[disk.NameLoss]int{}
	}
	l.points++
	l.orders[m.Order]++
	l.lostNames, l.lostWrites, l.lostBytes, l.tornPages = l.lostNames+m.LostNames, l.lostWrites+m.LostWrites, l.lostBytes+m.LostBytes, l.tornPages+m.Torn
	l.mostNames, l.mostWrites, l.mostBytes = max(l.mostNames, m.LostNames), max(l.mostWrites, m.LostWrites), max(l.mostBytes, m.LostBytes)
}

// drawLossPoints draws the points: half of them at any active tick, half at a rarer one than a
// write to the log. The first withBackup points also check the backup; every second of these is at
// an active tick of the backup's disk.
func (r *recording) drawLossPoints(count, withBackup int, random *rand.Rand) []lossPoint {
	drawn := make([]lossPoint, 0, count)
	for i := range count {
		p := lossPoint{lifetime: random.IntN(len(r.lifetimes)), seed: random.Uint64(), checksBackup: i < withBackup, backupIntact: i%4 == 0}
		l := r.lifetimes[p.lifetime]
		if p.checksBackup && i%2 == 0 {
			p.tick = l.backupTicks.drawTick(random, l.lastTick)
		} else {
			p.tick = l.dataTicks.drawTick(random, l.lastTick)
		}
		drawn = append(drawn, p)
	}
	slices.SortStableFunc(drawn, func(a, b lossPoint) int { return cmp.Compare(a.tick, b.tick) }) // the replay can then continue
	return drawn
}

// failure is a point with a broken promise.
type failure struct {
	lossPoint
	folder string // content of the disks
	lost   string
	err    error
}

func (f *failure) Error() string {
	return fmt.Sprintf("life %d, tick %d, loss %d (%s): %v\n  the folder as the disk had it: %s", f.lifetime+1, f.tick, f.seed, f.lost, f.err, f.folder)
}

// rebuildAndCheck writes the content at a point into the folder, opens it and checks it.
func (r *recording) rebuildAndCheck(ctx context.Context, p lossPoint, folder string, sum *lossStats) error {
	l := r.lifetimes[p.lifetime]
	left := l.losePower(&p)
	if err := errors.Join(os.RemoveAll(folder), left.write(folder)); err != nil {
		return err
	}
	sum.add(left.data)
	o, err := openDir(dataDir(folder))
	if err != nil {
		return r.keepFailure(p, fmt.Errorf("the rebuilt folder does not open: %w", err))
	}
	sum.lostEntries += uint64(len(l.log.entries) - len(o.entries))
	if torn, _ := filepath.Glob(filepath.Join(dataDir(folder), "damage", "*.torn")); len(torn) > 0 {
		sum.tornLogs++
	}
	if err := o.checkContent(l.log, l.promisesAt(p.tick)); err != nil {
		return r.keepFailure(p, errors.Join(err, o.log.Close()))
	}
	var backUp func() error
	if p.checksBackup {
		s, err := r.openBackup(folder)
		if err != nil {
			return errors.Join(err, o.log.Close())
		}
		kept := l.backupPromisesAt(p.tick)
		sum.countBackupCheck(p, kept)
		if err := s.checkAfterLoss(ctx, o, l.log, kept, rand.New(rand.NewPCG(p.seed, 2))); err != nil {
			return r.keepFailure(p, errors.Join(err, o.log.Close()))
		}
		if o.isFounded() {
			backUp = func() error { return s.checkContinuation(ctx, o) }
		}
	}
	if err := o.checkAppendedEntries(backUp); err != nil {
		return r.keepFailure(p, fmt.Errorf("cannot append to the rebuilt folder: %w", err))
	}
	return nil
}

// countBackupCheck counts a point with a check of the backup.
func (l *lossStats) countBackupCheck(p lossPoint, kept promises) {
	l.backups++
	if p.backupIntact {
		l.intactBackups++
	}
	if kept.seq > 0 {
		l.promisedBackups++
	}
}

// keepFailure keeps the content of the disks, and the files to start the program on it.
func (r *recording) keepFailure(p lossPoint, err error) error {
	f := &failure{lossPoint: p, err: err, folder: filepath.Join(r.folder, fmt.Sprintf("lost-%d-%d", p.tick, p.seed))}
	l := r.lifetimes[p.lifetime]
	left := l.losePower(&p)
	f.lost = left.String()
	return errors.Join(f, left.write(f.folder), copyBackupKey(r.folder, f.folder), os.WriteFile(filepath.Join(f.folder, "exchange.json"), []byte(l.config), 0o600))
}
