package commitqueue

// prefetchingWaiter is implemented by a Waiter that can prefetch the memory that Committed needs. The
// committer calls Prepare for a group of waiters before the first Committed of the group. The
// processor then fetches the memory for all of them at once.
type prefetchingWaiter interface{ Prepare() }

// prepareGroup is the number of waiters that prepare together: enough for overlapping
// fetches, and few enough that the fetched data is still cached when NotifyCommitted calls
// Committed.
const prepareGroup = 16

// NotifyCommitted tells the waiters of a durable batch that their entries are committed. first is the
// number of the batch's first entry, `at` the batch's time.
func NotifyCommitted(batch []Entry, first uint64, at int64) {
	for len(batch) > 0 {
		some := batch[:min(prepareGroup, len(batch))]
		for i := range some {
			if w, ok := some[i].Waiter.(prefetchingWaiter); ok {
				w.Prepare()
			}
		}
		for i := range some {
			if w := some[i].Waiter; w != nil {
				w.Committed(first+uint64(i), at)
			}
		}
		batch, first = batch[len(some):], first+uint64(len(some))
	}
}

// NotifyFailed tells the waiters of these entries the error because of which they have no other result.
func NotifyFailed(entries []Entry, err error) {
	for i := range entries {
		if w := entries[i].Waiter; w != nil {
			w.Failed(err)
		}
	}
}
