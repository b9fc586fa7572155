package ceiling

import "pingpost/wal"

// record is the data of a commit and the log's waiter for it. It serves one commit at a
// time.
type record struct {
	entry []byte
	done  chan error
}

func newRecord(size int) record {
	return record{entry: make([]byte, size), done: make(chan error, 1)}
}

// commit returns when the data is durable or the log has failed.
func (r *record) commit(log *wal.Log) error {
	if err := log.Append(r.entry, r); err != nil {
		return err
	}
	return <-r.done
}

// Committed reports to commit that the data is durable.
func (r *record) Committed(uint64, int64) { r.done <- nil }

// Failed reports the log's error to commit.
func (r *record) Failed(err error) { r.done <- err }
