package main

// promises are the consequences of all acks up to a tick.
type promises struct {
	seq      uint64
	revision int // of the active configuration
	erasures int // number of the log's first erasures
}

// promisesAt returns the promises of this and the earlier lifetimes up to a tick.
func (l *lifetime) promisesAt(tick int) promises {
	p := l.promisesBefore
	for i := range l.acks {
		a := &l.acks[i]
		switch {
		case a.tick > tick, a.isErasure && p.erasures == len(l.log.index.erased):
		case a.isErasure:
			p.seq = max(p.seq, l.log.index.erased[p.erasures].seq)
			p.erasures++
		case a.created != "":
			p.seq = max(p.seq, l.log.index.seqByCreated[a.created])
		case a.revision >= 0:
			p.revision = max(p.revision, a.revision)
		default:
			seq, _ := l.log.index.requiredSeq(a) // checkWithoutLoss has verified that there is an entry
			p.seq = max(p.seq, seq)
		}
	}
	return p
}

// backupPromisesAt returns the promises that the backup must hold at a tick.
func (l *lifetime) backupPromisesAt(tick int) promises {
	if upTo := lastBackedUpTick(l.backupRounds, tick); upTo > 0 {
		return l.promisesAt(upTo)
	}
	return l.backupPromisesBefore
}
