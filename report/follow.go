package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"pingpost/engine/event"
	"pingpost/wal"
)

// open opens the newest file, or makes one.
func (r *Report) open(ctx context.Context) (*file, error) {
	if err := os.MkdirAll(r.opt.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make the report's folder: %w", err)
	}
	highest, all, err := numbered(r.opt.Dir)
	if err != nil {
		return nil, fmt.Errorf("cannot read the report's folder: %w", err)
	}
	for n, path := range all {
		if n != highest {
			err = errors.Join(err, remove(path))
		}
	}
	select {
	case <-r.spoiled: // of the file before
	default:
	}
	fresh := len(all) == 0
	if r.number = max(r.number, highest); fresh {
		r.number++
	}
	dir, absErr := filepath.Abs(r.opt.Dir)
	if err = errors.Join(err, absErr); err != nil {
		return nil, fmt.Errorf("cannot clear the report's folder: %w", err)
	}
	f, err := connect(ctx, filepath.Join(dir, strconv.Itoa(r.number)+suffix))
	if err != nil {
		return nil, fmt.Errorf("cannot open the report's file: %w", spoilsOpen(err))
	}
	f.open.most = r.opt.open
	if err := r.enter(ctx, f, fresh); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// spoilsOpen judges why a file cannot be opened: what the system refuses is not mended
// by another one.
func spoilsOpen(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return err
	}
	return spoils(err)
}

func (r *Report) enter(ctx context.Context, f *file, fresh bool) error {
	var err error
	if fresh {
		at := place{Life: r.opt.Source.Life()}
		if err = f.create(ctx, at); err == nil {
			err = f.writePlace(ctx, at)
		}
	} else {
		durable, _ := r.opt.Source.Durable()
		err = f.accept(ctx, r.opt.Source.Life(), durable)
	}
	if err == nil {
		err = f.finish()
	}
	return spoils(err)
}

// follow reads on until something is wrong. What it has checked beside it ends with
// checks.
func (r *Report) follow(ctx, checks context.Context, f *file) error {
	from := f.place.seq
	if from > 0 {
		from++
	}
	log, err := r.opt.Source.NewReader(from)
	if errors.Is(err, wal.ErrGone) {
		return &spoiltError{err}
	}
	if err != nil {
		return fmt.Errorf("cannot read the log for the report: %w", err)
	}
	defer log.Close()
	r.check(checks, f)
	checked := time.Now()
	for ctx.Err() == nil {
		select {
		case why := <-r.spoiled:
			return &why
		default:
		}
		if err := f.there(); err != nil {
			return &spoiltError{err}
		}
		if !r.mayGoOn() {
			wait(ctx, r.opt.every)
			continue
		}
		more, err := r.step(ctx, f, log)
		if err != nil {
			return err
		}
		f.breath.behind = more
		if more {
			continue
		}
		if err := errors.Join(r.sweep(ctx, f), f.settle(ctx)); err != nil {
			return err
		}
		if time.Since(checked) > r.opt.checks {
			r.check(checks, f)
			checked = time.Now()
		}
		wait(ctx, r.opt.every)
	}
	return nil
}

// mayGoOn tells whether there is room, and notes it.
func (r *Report) mayGoOn() bool {
	room := r.opt.Room()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.status.Paused == room {
		r.status.Paused = !room
		r.opt.Logger.Info("the report waits where there is little room on the disk", "waits", !room)
	}
	return room
}

// step takes what there is into one transaction; more: there may be more.
func (r *Report) step(ctx context.Context, f *file, log Reader) (more bool, err error) {
	ctx = context.WithoutCancel(ctx) // one batch is written or not begun
	b := newBatch(ctx, f, f.sources)
	decoder := event.Decoder{}
	for f.breath.draw(); !b.full(); f.breath.take() {
		entry, err := log.Next()
		if errors.Is(err, io.EOF) {
			return false, r.put(ctx, f, b)
		}
		if errors.Is(err, wal.ErrGone) {
			return false, &spoiltError{err}
		}
		if err != nil {
			return false, errors.Join(fmt.Errorf("cannot read the log for the report: %w", err), r.put(ctx, f, b))
		}
		if f.place.seq == 0 && b.n == 0 && entry.Seq > 1 {
			f.place.begins = entry.At
		}
		fact, err := decoder.Decode(entry.Data)
		if err != nil {
			return false, fmt.Errorf("cannot read entry %d of the log for the report: %w", entry.Seq, err)
		}
		if err := b.take(entry.Seq, entry.At, fact); err != nil {
			return false, spoils(err)
		}
	}
	return true, r.put(ctx, f, b)
}

func (r *Report) put(ctx context.Context, f *file, b *batch) error {
	if b.n > 0 {
		if err := f.write(ctx, b, r.opt.Source.NameOf); err != nil {
			return spoils(err)
		}
		if err := f.settle(ctx); err != nil {
			return err
		}
	}
	durable, _ := r.opt.Source.Durable()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status.Seq, r.status.At = f.place.seq, f.place.at
	if r.status.Seq >= durable {
		r.caught = r.opt.Now()
	}
	return nil
}
