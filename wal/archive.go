package wal

import "time"

// Archive lets go of what is no longer needed, in the background: segments wholly
// before entry oldest move to the archive, and archived ones whose entries are all
// older than keepAfter (unix nanoseconds) are unlinked. The two newest segments
// always stay live. Files go oldest first, at no more than twice the rate at which
// segments appear, and at two a second while none do. Neither bound ever goes back.
func (l *Log) Archive(oldest uint64, keepAfter int64) {
	l.shelf.mu.Lock()
	l.shelf.oldest = max(l.shelf.oldest, oldest)
	l.shelf.keepAfter = max(l.shelf.keepAfter, keepAfter)
	l.shelf.mu.Unlock()
	l.shelf.wake()
}

func (l *Log) sweepLoop() {
	defer l.side.Done()
	for {
		select {
		case <-l.stop:
			return
		case <-l.shelf.kick:
		}
		for {
			did, err := l.shelf.step()
			if err != nil {
				l.log.Warn("cannot clear old log segments; they stay until the next attempt", "error", err)
			}
			if !did || err != nil {
				break
			}
			select {
			case <-l.stop:
				return
			case <-time.After(l.shelf.pause()):
			}
		}
	}
}
