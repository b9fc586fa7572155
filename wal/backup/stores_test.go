package backup

import (
	"context"
	"errors"
	"sync"

	"pingpost/wal/backup/store"
)

var errFlaky = errors.New("the store failed on purpose")

// flaky asks fails before each operation. A failed put may leave the first bytes under the
// object's own name, as a bad store would.
type flaky struct {
	store.Store
	mu    sync.Mutex
	ops   int
	bytes int // that Put was given
	fails func(op int, kind, name string) (leaves int, err error)
}

func (f *flaky) ask(kind, name string) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ops++
	if f.fails == nil {
		return 0, nil
	}
	return f.fails(f.ops, kind, name)
}

func (f *flaky) Put(ctx context.Context, name string, data []byte) error {
	leaves, err := f.ask("put", name)
	f.mu.Lock()
	f.bytes += len(data)
	f.mu.Unlock()
	if err == nil {
		return f.Store.Put(ctx, name, data)
	}
	if leaves > 0 {
		_ = f.Store.Put(ctx, name, data[:min(leaves, len(data))])
	}
	return err
}

func (f *flaky) Create(ctx context.Context, name string, data []byte) error {
	leaves, err := f.ask("create", name)
	if err == nil || leaves > 0 { // done, and the answer was lost
		err = errors.Join(err, f.Store.Create(ctx, name, data))
	}
	return err
}

func (f *flaky) Get(ctx context.Context, name string) ([]byte, error) {
	if _, err := f.ask("get", name); err != nil {
		return nil, err
	}
	return f.Store.Get(ctx, name)
}

func (f *flaky) List(ctx context.Context, folder string) ([]store.Object, error) {
	if _, err := f.ask("list", folder); err != nil {
		return nil, err
	}
	return f.Store.List(ctx, folder)
}

func (f *flaky) Delete(ctx context.Context, names ...string) error {
	for i, name := range names {
		if _, err := f.ask("delete", name); err != nil {
			return errors.Join(err, f.Store.Delete(ctx, names[:i]...))
		}
	}
	return f.Store.Delete(ctx, names...)
}
