package backup

import "pingpost/wal"

// A tail is the end of the log as it is being shipped. What is logged goes out at once
// as a small object, and again when there is enough of it as a large one, which takes
// their place: so a restore meets few objects, and the loss of a disk costs no more
// than the last look. It is in memory, so that nothing has to be read twice.
type tail struct {
	buf    []byte // records from entry first on
	first  uint64
	sent   int    // bytes of buf that small objects hold
	unsent uint64 // first entry behind them
	due    uint64 // entry that is read next: buf ends before it
	at     int64  // time of the last entry in buf
	tails  int    // small objects that hold buf[:sent]
}

// add takes the entry that is due.
func (t *tail) add(e *wal.Entry) {
	t.buf = wal.AppendRecord(t.buf, e)
	t.due, t.at = e.Seq+1, e.At
}

// shipped says that all of it is in the store, in one more small object.
func (t *tail) shipped() {
	t.sent, t.unsent = len(t.buf), t.due
	t.tails++
}

// merged says that all of it is in the store, in a large object.
func (t *tail) merged() {
	*t = tail{buf: t.buf[:0], first: t.due, unsent: t.due, due: t.due, at: t.at}
}

// pending is what is in no object yet, and its first entry.
func (t *tail) pending() (records []byte, first uint64) {
	return t.buf[t.sent:], max(t.unsent, t.first)
}
