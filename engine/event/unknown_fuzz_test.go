package event

import (
	"runtime"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// withUnknownField adds an unknown field of any wire type to a record, in the envelope and in
// the event, as a later version may do.
func withUnknownField(frame []byte, number protowire.Number, form uint8, text []byte) []byte {
	field := func(dst []byte) []byte {
		switch form % 4 {
		case 0:
			return protowire.AppendVarint(protowire.AppendTag(dst, number, protowire.VarintType), uint64(len(text))<<40)
		case 1:
			return protowire.AppendFixed32(protowire.AppendTag(dst, number, protowire.Fixed32Type), 7)
		case 2:
			return protowire.AppendFixed64(protowire.AppendTag(dst, number, protowire.Fixed64Type), 7)
		}
		return protowire.AppendBytes(protowire.AppendTag(dst, number, protowire.BytesType), text)
	}
	out := field(nil)
	for len(frame) > 0 {
		got, kind, n := protowire.ConsumeTag(frame)
		size := protowire.ConsumeFieldValue(got, kind, frame[n:])
		if kind == protowire.BytesType && got == 3 {
			body, _ := protowire.ConsumeBytes(frame[n:])
			out = protowire.AppendBytes(protowire.AppendTag(out, got, kind), field(append([]byte(nil), body...)))
		} else {
			out = append(out, frame[:n+size]...)
		}
		frame = frame[n+size:]
	}
	return field(out)
}

// FuzzUnknownFields checks that fields of later versions do not change the decoded event.
func FuzzUnknownFields(f *testing.F) {
	for i, e := range emptyEvents() {
		f.Add(AppendRecord(nil, fill(e)), uint16(i), uint8(i), []byte("later"))
		f.Add(AppendRecord(nil, e), uint16(60000), uint8(3), []byte{})
	}
	f.Fuzz(func(t *testing.T, data []byte, number uint16, form uint8, text []byte) {
		var d, again Decoder
		e, err := d.Decode(data)
		if err != nil {
			return
		}
		frame := AppendRecord(nil, e)
		later := withUnknownField(frame, 1000+protowire.Number(number), form, text)
		got, err := again.Decode(later)
		if err != nil {
			t.Fatalf("%x with an unknown field is rejected: %v", frame, err)
		}
		if decoded := AppendRecord(nil, got); string(decoded) != string(frame) {
			t.Fatalf("%x\nwith an unknown field is decoded as %+v", frame, got)
		}
	})
}

// FuzzDecodeMemory checks that decoding allocates in proportion to the bytes of the record, and
// not to the lengths in it.
func FuzzDecodeMemory(f *testing.F) {
	for _, e := range emptyEvents() {
		f.Add(AppendRecord(nil, fill(e)))
	}
	f.Add([]byte{0x08, 0x05, 0x10, 0x01, 0x1a, 0xff, 0xff, 0xff, 0xff, 0x0f})
	const perByte, base = 256, 64 << 10
	f.Fuzz(func(t *testing.T, data []byte) {
		var d Decoder
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = d.Decode(data)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > uint64(len(data))*perByte+base {
			t.Fatalf("%d bytes allocated for a record of %d bytes", took, len(data))
		}
	})
}
