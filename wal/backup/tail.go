package backup

import "pingpost/wal"

// logTail is the end of the log that is being shipped. New entries go out at once as small
// objects. When there are enough, one large object replaces them. A restore therefore
// reads few objects, and a lost disk costs at most the time since the last step. The
// tail stays in memory, so that the shipper reads no entry twice.
type logTail struct {
	buf            []byte // records from entry first on
	first          uint64
	shippedBytes   int    // bytes of buf that are in small objects
	firstUnshipped uint64 // first entry after them
	due            uint64 // entry to read next; buf ends before it
	at             int64  // time of the last entry in buf
	smallObjects   int    // number of small objects with buf[:shippedBytes]
}

// appendEntry appends the entry due.
func (t *logTail) appendEntry(e *wal.Entry) {
	t.buf = wal.AppendRecord(t.buf, e)
	t.due, t.at = e.Seq+1, e.At
}

// markShipped records that one more small object has the rest of the tail.
func (t *logTail) markShipped() {
	t.shippedBytes, t.firstUnshipped = len(t.buf), t.due
	t.smallObjects++
}

// markMerged records that one large object now has all entries of the tail, and empties the
// tail.
func (t *logTail) markMerged() {
	*t = logTail{buf: t.buf[:0], first: t.due, firstUnshipped: t.due, due: t.due, at: t.at}
}

// unshippedRecords returns the records that are in no object yet, and their first entry.
func (t *logTail) unshippedRecords() (records []byte, first uint64) {
	return t.buf[t.shippedBytes:], max(t.firstUnshipped, t.first)
}
