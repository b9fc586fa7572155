package server

import (
	"maps"
	"sync"
	"sync/atomic"
)

// family keeps what is counted of each of many that bear names: buyers,
// campaigns. A name gets its counters when it is first met. It keeps them for
// good, as Prometheus's counters must; only operators give names, in a
// configuration, so a stranger can add none.
//
// To look one up takes no lock and no memory. To add one copies the map, which
// happens once a name.
type family[T any] struct {
	newOne  func(name string) *T
	adding  sync.Mutex
	members atomic.Pointer[map[string]*T]
}

// all are those that were met; nobody may write to it.
func (f *family[T]) all() map[string]*T {
	if known := f.members.Load(); known != nil {
		return *known
	}
	return nil
}

func (f *family[T]) of(name string) *T {
	if known := f.members.Load(); known != nil {
		if one := (*known)[name]; one != nil {
			return one
		}
	}
	f.adding.Lock()
	defer f.adding.Unlock()
	next := make(map[string]*T)
	if known := f.members.Load(); known != nil {
		if one := (*known)[name]; one != nil {
			return one
		}
		maps.Copy(next, *known)
	}
	one := f.newOne(name)
	next[name] = one
	f.members.Store(&next)
	return one
}
