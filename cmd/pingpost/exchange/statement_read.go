package exchange

import (
	"fmt"
	"io"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/wal"
)

// A moneyReader reads the log's facts of a time on, for statements. It goes on as
// long as the log is, which may be gigabytes, so it reads in pieces and rests after
// each for as long as that one took: serving has the other half of that core, and
// the disk in between. It ends with the exchange.
type moneyReader struct {
	books   *bookkeeper
	log     *wal.Reader
	decoder event.Decoder
	from    int64
	last    uint64 // the entry that it reads to
	begun   bool
	pace    unhurried
}

func (b *bookkeeper) read(from int64, last uint64) (*moneyReader, error) {
	log, err := b.log.ReadSince(from)
	if err != nil {
		return nil, fmt.Errorf("cannot read the log: %w", err)
	}
	return &moneyReader{books: b, log: log, decoder: event.Decoder{Brief: true}, from: from, last: last, pace: unhurry(b.piece, b.stops)}, nil
}

func (r *moneyReader) close() { r.log.Close() }

// next is the next fact, good until the call after it; io.EOF follows the last.
func (r *moneyReader) next() (seq uint64, at int64, fact event.Event, err error) {
	for {
		if err := r.pace.rest(r.log.Bytes()); err != nil {
			return 0, 0, nil, err
		}
		entry, err := r.log.Next()
		if err != nil {
			return 0, 0, nil, err // the end, where nothing was ever logged
		}
		if !r.begun && entry.Seq > 1 && entry.At >= r.from {
			return 0, 0, nil, &engine.PastHistory{Begins: entry.At}
		}
		r.begun = true
		if entry.Seq > r.last {
			return 0, 0, nil, io.EOF
		}
		if entry.At < r.from {
			continue
		}
		fact, err := r.decoder.Decode(entry.Data)
		if err != nil {
			return 0, 0, nil, fmt.Errorf("cannot read entry %d of the log: %w", entry.Seq, err)
		}
		r.attribute(fact)
		return entry.Seq, entry.At, fact, nil
	}
}

// attribute gives a settlement that an earlier program wrote the supplier that it
// does not name.
func (r *moneyReader) attribute(fact event.Event) {
	settled, ok := fact.(*event.PostSettled)
	if !ok || settled.Supplier != 0 {
		return
	}
	if lead, known := r.books.state.Lead(settled.Lead); known {
		settled.Supplier = lead.Supplier
	}
}
