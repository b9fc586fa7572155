package metrics

import (
	"maps"
	"sync"
	"sync/atomic"
)

// countersByName holds the counters of named things, such as buyers and campaigns. A name gets its
// counters at first use and keeps them, as Prometheus counters must. Only operators choose
// names, in the configuration, so a client cannot add any.
//
// A lookup takes no lock and does not allocate. Adding a name copies the map.
type countersByName[T any] struct {
	newOne  func(name string) *T
	adding  sync.Mutex
	members atomic.Pointer[map[string]*T]
}

// all returns the counters of all names used so far. The caller must not change the map.
func (f *countersByName[T]) all() map[string]*T {
	if known := f.members.Load(); known != nil {
		return *known
	}
	return nil
}

func (f *countersByName[T]) getOrCreate(name string) *T {
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
