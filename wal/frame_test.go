package wal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"pgregory.net/rapid"
)

func drawHeader(t *rapid.T) frameHeader {
	return frameHeader{
		seq:   rapid.Uint64().Draw(t, "seq"),
		batch: rapid.Uint64().Draw(t, "batch"),
		at:    rapid.Int64().Draw(t, "at"),
		epoch: rapid.Uint32().Draw(t, "epoch"),
	}
}

// appendRecord appends a record as in a segment.
func appendRecord(dst []byte, h frameHeader, data []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(headerSize+len(data)))
	return appendFrame(dst, h, data)
}

func TestRecordRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want, data := drawHeader(t), rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, "data")
		behind := rapid.SliceOf(rapid.Byte()).Draw(t, "behind")
		rec := appendRecord(nil, want, data)
		got, gotData, n, err := parseRecord(append(bytes.Clone(rec), behind...))
		if err != nil || got != want || !bytes.Equal(gotData, data) || n != len(rec) {
			t.Fatalf("got %+v %q of %d bytes, %v; want %+v %q of %d", got, gotData, n, err, want, data, len(rec))
		}
		if recordSize(len(data)) != len(rec) {
			t.Fatalf("recordSize is %d, the record has %d bytes", recordSize(len(data)), len(rec))
		}
	})
}

func TestLargestRecordFitsReadBuffer(t *testing.T) {
	rec := appendRecord(nil, frameHeader{seq: 1, batch: 1}, make([]byte, MaxEntry))
	if len(rec) != maxRecord || len(rec) > readBuffer {
		t.Fatalf("the largest record has %d bytes, maxRecord is %d", len(rec), maxRecord)
	}
	if _, data, _, err := parseRecord(rec); err != nil || len(data) != MaxEntry {
		t.Fatalf("got %d bytes, %v", len(data), err)
	}
}

func TestPrefixOfRecordIsShort(t *testing.T) {
	rec := appendRecord(nil, frameHeader{seq: 1, batch: 1}, bytes.Repeat([]byte("x"), 200))
	for n := range rec {
		if _, _, _, err := parseRecord(rec[:n]); !errors.Is(err, errShort) {
			t.Errorf("%d of %d bytes: %v", n, len(rec), err)
		}
	}
}

func TestParseRecordRejectsInvalidBytes(t *testing.T) {
	good := appendRecord(nil, frameHeader{seq: 1, batch: 1}, []byte("data"))
	with := func(at int, b ...byte) []byte {
		bad := bytes.Clone(good)
		copy(bad[at:], b)
		return bad
	}
	newer := appendFrame(nil, frameHeader{seq: 1, batch: 1}, []byte("data"))
	newer[3] = 2
	for name, c := range map[string]struct {
		bytes []byte
		want  error
	}{
		"zeros":                                 {make([]byte, 100), badLength},
		"a length below a frame's":              {with(0, headerSize), badLength},
		"a length over the largest":             {append([]byte{0xFF, 0xFF, 0xFF, 0x7F}, good...), badLength},
		"a length of more than 64 bits":         {bytes.Repeat([]byte{0xFF}, 20), badLength},
		"a length in too many bytes":            {append([]byte{headerSize + 4 | 0x80, 0}, good[1:]...), badLength},
		"another magic":                         {with(1, 'x'), badMagic},
		"a frame shorter than its length field": {with(5, 5), badMismatch},
		"a frame longer than its length field":  {with(5, 3), badChecksum},
		"a frame without data":                  {with(5, 0), badLength},
		"a later version":                       {append([]byte{44}, reseal(newer)...), unknownVersionError(2)},
		"a magic before zeros":                  {append(bytes.Clone(good[:4]), make([]byte, 60)...), badMagic},
		"a damaged version":                     {with(4, 9), badChecksum},
	} {
		if _, _, _, err := parseRecord(c.bytes); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

// reseal recomputes a frame's checksum for its current content.
func reseal(frame []byte) []byte {
	binary.LittleEndian.PutUint32(frame[crcOffset:], checksum(frame[:crcOffset], frame[headerSize:]))
	return frame
}

func TestChainFollow(t *testing.T) {
	at := func(seq, batch uint64, at int64, epoch uint32) frameHeader {
		return frameHeader{seq: seq, batch: batch, at: at, epoch: epoch}
	}
	before := frameOrderChecker{frameHeader: at(9, 8, 100, 2), any: true}
	for name, c := range map[string]struct {
		next   frameHeader
		starts bool
		good   bool
	}{
		"the same batch":                     {at(10, 8, 100, 2), false, true},
		"a new batch":                        {at(10, 10, 101, 2), false, true},
		"a new batch in the same nanosecond": {at(10, 10, 100, 2), false, true},
		"a new batch in a new segment":       {at(10, 10, 100, 2), true, true},
		"a new epoch":                        {at(10, 10, 100, 3), false, true},
		"a gap":                              {at(11, 11, 100, 2), false, false},
		"a repetition":                       {at(9, 8, 100, 2), false, false},
		"a batch that continues in the next segment": {at(10, 8, 100, 2), true, false},
		"a batch that began earlier":                 {at(10, 7, 100, 2), false, false},
		"a batch that began between":                 {at(10, 9, 100, 2), false, false},
		"a batch of the future":                      {at(10, 12, 100, 2), false, false},
		"two times in a batch":                       {at(10, 8, 101, 2), false, false},
		"two epochs in a batch":                      {at(10, 8, 100, 3), false, false},
		"a batch whose time goes back":               {at(10, 10, 99, 2), false, false},
		"a batch whose epoch goes back":              {at(10, 10, 100, 1), false, false},
		"a segment that begins inside a batch":       {at(10, 9, 100, 2), true, false},
	} {
		ch := before
		if err := ch.checkNext(c.next, c.starts); (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		} else if c.good && ch.frameHeader != c.next {
			t.Errorf("%s: the chain did not go on", name)
		} else if !c.good && ch != before {
			t.Errorf("%s: the chain went on", name)
		}
	}
}

func FuzzParseRecord(f *testing.F) {
	f.Add(appendRecord(nil, frameHeader{seq: 1, batch: 1, at: 1, epoch: 1}, []byte("data")))
	f.Add([]byte{0xFF, 0xFF, 0xFF, 0xFF, 0x0F})
	f.Fuzz(func(t *testing.T, b []byte) {
		h, data, n, err := parseRecord(b)
		if err != nil {
			return
		}
		if again := appendRecord(nil, h, data); !bytes.Equal(again, b[:n]) {
			t.Fatalf("%x was read, and is written as %x", b[:n], again)
		}
	})
}
