package ceiling

import "pingpost/wal"

// record is bytes that are committed, and the log's waiter for them. It serves one
// commit at a time.
type record struct {
	entry []byte
	done  chan error
}

func newRecord(size int) record {
	return record{entry: make([]byte, size), done: make(chan error, 1)}
}

// commit returns when the bytes are durable, or never will be.
func (r *record) commit(log *wal.Log) error {
	if err := log.Append(r.entry, r); err != nil {
		return err
	}
	return <-r.done
}

// Committed is the log's word that they are durable.
func (r *record) Committed(uint64, int64) { r.done <- nil }

// Failed is the log's word that they are not.
func (r *record) Failed(err error) { r.done <- err }
