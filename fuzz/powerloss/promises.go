package main

// promises are what has to be there once it was told.
type promises struct {
	entry    uint64
	revision int // of the configuration in force
	erasures int // the log's first so many
}

// promised is what was told up to a tick, in this life and those before it.
func (l *life) promised(tick int) promises {
	p := l.before
	for i := range l.acks {
		a := &l.acks[i]
		switch {
		case a.tick > tick, a.erased && p.erasures == len(l.truth.facts.erased):
		case a.erased:
			p.entry = max(p.entry, l.truth.facts.erased[p.erasures].seq)
			p.erasures++
		case a.made != "":
			p.entry = max(p.entry, l.truth.facts.made[a.made])
		case a.revision >= 0:
			p.revision = max(p.revision, a.revision)
		default:
			seq, _ := l.truth.facts.needs(a) // prove has seen that there is one
			p.entry = max(p.entry, seq)
		}
	}
	return p
}

// kept is what was said, up to a tick, to be in the backup.
func (l *life) kept(tick int) promises {
	if upTo := shippedUpTo(l.rounds, tick); upTo > 0 {
		return l.promised(upTo)
	}
	return l.keptBefore
}
