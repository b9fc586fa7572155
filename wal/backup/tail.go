package backup

import "pingpost/wal"

// logTail holds in memory the last part of the log that is not in a large object yet. New
// entries are shipped at once as small objects. When there are enough, one large object
// replaces them. A restore therefore reads few objects, and a lost disk costs at most the
// time since the last step. The shipper reads no entry twice, except after a restart.
type logTail struct {
	buf            []byte // records from entry first on
	first          uint64
	shippedBytes   int    // bytes of buf that are in small objects
	firstUnshipped uint64 // first entry after them
	due            uint64 // entry to read next; buf ends before it
	at             int64  // time of the last entry in buf
	smallObjects   int    // number of small objects with buf[:shippedBytes]
}

// appendEntry appends the record of the next log entry, whose number must be t.due.
func (t *logTail) appendEntry(e *wal.Entry) {
	t.buf = wal.AppendRecord(t.buf, e)
	t.due, t.at = e.Seq+1, e.At
}

// markShipped records that a small object now holds the entries of the tail that were not in
// the store.
func (t *logTail) markShipped() {
	t.shippedBytes, t.firstUnshipped = len(t.buf), t.due
	t.smallObjects++
}

// clearMergedEntries empties the tail after one large object with all its entries was stored.
func (t *logTail) clearMergedEntries() {
	*t = logTail{buf: t.buf[:0], first: t.due, firstUnshipped: t.due, due: t.due, at: t.at}
}

// unshippedRecords returns the records of the tail that are not in the store yet, and the
// number of their first entry.
func (t *logTail) unshippedRecords() (records []byte, first uint64) {
	return t.buf[t.shippedBytes:], max(t.firstUnshipped, t.first)
}
