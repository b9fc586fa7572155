package event

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/VictoriaMetrics/easyproto"
	"pgregory.net/rapid"
)

// One decoder reads a whole log. A decoded event keeps no data of an earlier event of its kind.
func TestEventRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d Decoder
		for _, e := range rapid.SliceOfN(drawEvent(), 1, 12).Draw(t, "log") {
			decoded, err := d.Decode(AppendRecord(nil, e))
			if err != nil {
				t.Fatalf("%s: %v", e.Kind(), err)
			}
			if !equalEvents(e, decoded) {
				t.Fatalf("encoded %+v\ndecoded %+v", e, decoded)
			}
		}
	})
}

// The decoder reads a filled event, an empty one of the same kind, and the filled one again.
// AppendRecord keeps the bytes before each record.
func TestDecoderResetsReusedEvents(t *testing.T) {
	var d Decoder
	empties := emptyEvents()
	for i, full := range emptyEvents() {
		fill(full)
		for _, e := range []Event{full, empties[i], full} {
			decoded, err := d.Decode(AppendRecord([]byte{0xff}, e)[1:])
			if err != nil || !equalEvents(e, decoded) {
				t.Errorf("encoded %+v\ndecoded %+v, %v", e, decoded, err)
			}
		}
	}
}

func envelope(kind, eventVersion uint32, ev []byte) []byte {
	var m easyproto.Marshaler
	mm := m.MessageMarshaler()
	mm.AppendUint32(envelopeKind, kind)
	mm.AppendUint32(envelopeVersion, eventVersion)
	mm.AppendBytes(envelopeEvent, ev)
	return m.Marshal(nil)
}

func TestUnknownKindAndVersionAreRejected(t *testing.T) {
	last := uint32(len(eventKinds) - 1)
	tests := []struct {
		name string
		data []byte
	}{
		{"empty record", nil},
		{"kind 0", envelope(0, version, nil)},
		{"the next kind", envelope(last+1, version, nil)},
		{"a large kind", envelope(1<<32-1, version, nil)},
		{"no version", envelope(1, 0, nil)},
		{"the next version", envelope(1, version+1, nil)},
	}
	for _, test := range tests {
		var d Decoder
		if e, err := d.Decode(test.data); !errors.Is(err, ErrUnknown) || e != nil {
			t.Errorf("%s: %v, %v", test.name, e, err)
		}
	}
}

// eventBytes returns the event's bytes in an envelope.
func eventBytes(t testing.TB, data []byte) []byte {
	body, ok, err := easyproto.GetMessageData(data, envelopeEvent)
	if err != nil || !ok {
		t.Fatalf("the envelope has no event: %v", err)
	}
	return body
}

// An event is truncated at every byte, in a whole envelope. A cut between two fields gives a
// smaller event.
func TestTruncatedEventDecodesOnlyAtFieldEnd(t *testing.T) {
	for _, e := range emptyEvents() {
		ev := eventBytes(t, AppendRecord(nil, fill(e)))
		whole := []int{0}
		for rest := ev; len(rest) > 0; {
			var fc easyproto.FieldContext
			rest, _ = fc.NextField(rest)
			whole = append(whole, len(ev)-len(rest))
		}
		for n := range ev {
			var d Decoder
			_, err := d.Decode(envelope(uint32(e.Kind()), version, ev[:n]))
			if (err == nil) != slices.Contains(whole, n) {
				t.Errorf("%s truncated to %d of %d bytes: %v", e.Kind(), n, len(ev), err)
			}
		}
	}
}

// Every field is decoded in every wire form that is not its own.
func TestFieldOfWrongWireTypeIsRejected(t *testing.T) {
	forms := map[string]func(mm *easyproto.MessageMarshaler, field uint32){
		"a number":        func(mm *easyproto.MessageMarshaler, field uint32) { mm.AppendUint64(field, 1) },
		"a huge number":   func(mm *easyproto.MessageMarshaler, field uint32) { mm.AppendUint64(field, 1<<63) },
		"eight bytes":     func(mm *easyproto.MessageMarshaler, field uint32) { mm.AppendFixed64(field, 1) },
		"four bytes":      func(mm *easyproto.MessageMarshaler, field uint32) { mm.AppendFixed32(field, 1) },
		"invalid message": func(mm *easyproto.MessageMarshaler, field uint32) { mm.AppendBytes(field, []byte{0xff}) },
		"17 bytes":        func(mm *easyproto.MessageMarshaler, field uint32) { mm.AppendBytes(field, make([]byte, 17)) },
		"33 bytes":        func(mm *easyproto.MessageMarshaler, field uint32) { mm.AppendBytes(field, make([]byte, 33)) },
		"2 bytes":         func(mm *easyproto.MessageMarshaler, field uint32) { mm.AppendBytes(field, make([]byte, 2)) },
		"0 bytes":         func(mm *easyproto.MessageMarshaler, field uint32) { mm.AppendBytes(field, nil) },
	}
	var d Decoder
	for _, e := range emptyEvents() {
		for field := range fieldsOf(t, e) {
			rejected := 0
			for _, form := range forms {
				var m easyproto.Marshaler
				form(m.MessageMarshaler(), field)
				_, err := d.Decode(envelope(uint32(e.Kind()), version, m.Marshal(nil)))
				if err != nil && !strings.Contains(err.Error(), e.Kind().String()) {
					t.Errorf("the error does not name %s: %v", e.Kind(), err)
				}
				if err != nil {
					rejected++
				}
			}
			if rejected == 0 {
				t.Errorf("%s: field %d is accepted in every form", e.Kind(), field)
			}
		}
	}
}

func fieldsOf(t testing.TB, e Event) map[uint32]bool {
	fields := map[uint32]bool{}
	for rest := eventBytes(t, AppendRecord(nil, fill(e))); len(rest) > 0; {
		var fc easyproto.FieldContext
		var err error
		if rest, err = fc.NextField(rest); err != nil {
			t.Fatal(err)
		}
		fields[fc.FieldNum] = true
	}
	return fields
}

func TestFixedSizeFieldsCheckLength(t *testing.T) {
	tests := []struct {
		name string
		kind Kind
		into func(mm *easyproto.MessageMarshaler, value []byte)
		size int
	}{
		{"a lead's id", KindPostAttemptFailed, func(mm *easyproto.MessageMarshaler, v []byte) { mm.AppendBytes(1, v) }, 16},
		{"a credential's hash", KindCredentialAddedOrRevoked, func(mm *easyproto.MessageMarshaler, v []byte) { mm.AppendBytes(4, v) }, 32},
		{"a sale's currency", KindLeadDecided, func(mm *easyproto.MessageMarshaler, v []byte) { mm.AppendMessage(12).AppendBytes(5, v) }, 3},
		{"a duplicate's key", KindLeadDecided, func(mm *easyproto.MessageMarshaler, v []byte) {
			mm.AppendMessage(12).AppendMessage(9).AppendBytes(1, v)
		}, 16},
		{"a sale's auction", KindPostSettled, func(mm *easyproto.MessageMarshaler, v []byte) { mm.AppendMessage(3).AppendBytes(11, v) }, 16},
		{"a changed lead", KindLeadStatusesChanged, func(mm *easyproto.MessageMarshaler, v []byte) { mm.AppendMessage(7).AppendBytes(1, v) }, 16},
		{"a return's currency", KindLeadStatusesChanged, func(mm *easyproto.MessageMarshaler, v []byte) {
			mm.AppendMessage(7).AppendMessage(7).AppendBytes(4, v)
		}, 3},
		{"a supplier's lead", KindWebhookAttempted, func(mm *easyproto.MessageMarshaler, v []byte) { mm.AppendBytes(1, v) }, 16},
		{"an auction's name", KindPingAuctionCompleted, func(mm *easyproto.MessageMarshaler, v []byte) { mm.AppendBytes(9, v) }, 16},
		{"an auction's token", KindPingAuctionCompleted, func(mm *easyproto.MessageMarshaler, v []byte) { mm.AppendBytes(11, v) }, 16},
		{"a bid's currency", KindPingAuctionCompleted, func(mm *easyproto.MessageMarshaler, v []byte) { mm.AppendMessage(19).AppendBytes(7, v) }, 3},
	}
	for _, test := range tests {
		for _, n := range []int{0, test.size - 1, test.size, test.size + 1, 100} {
			var m easyproto.Marshaler
			test.into(m.MessageMarshaler(), make([]byte, n))
			var d Decoder
			if _, err := d.Decode(envelope(uint32(test.kind), version, m.Marshal(nil))); (err == nil) != (n == test.size) {
				t.Errorf("%s of %d bytes: %v", test.name, n, err)
			}
		}
	}
}

// The error names the malformed field, and not the field after it.
func TestDecodeErrorNamesField(t *testing.T) {
	next := "\x22\x01x" // field 4
	for body, number := range map[string]int{
		"\x0a\x01\x80" + next:        1, // a packed number ends too early
		"\x12\x03abc" + next:         2, // an identifier of three bytes
		"\x18\x01" + next:            3, // eight bytes as a varint
		"\x22\x02x":                  4, // a text ends too early
		"\x28\x80":                   5, // a varint ends too early
		"\x2b" + next:                5, // unknown wire types
		"\x2c" + next:                5,
		"\x2e" + next:                5,
		"\x2f" + next:                5,
		"\x29\x01\x02" + next:        5, // a fixed number ends too early
		"\x2d\x01\x02\x03":           5,
		next + "\x2a\x80\x01" + next: 5, // a length beyond the end
	} {
		err := new(protobufCodec).decodeMessage([]byte(body), new(PersonalDataOfLeadsErased))
		if want := fmt.Sprintf("number %d ", number); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%x: %v, want %q", body, err, want)
		}
	}
}

func TestEnumAbove255IsRejected(t *testing.T) {
	var d Decoder
	for number, want := range map[uint64]bool{255: true, 256: false, 1 << 40: false} {
		var m easyproto.Marshaler
		m.MessageMarshaler().AppendUint64(2, number)
		if _, err := d.Decode(envelope(uint32(KindPostSettled), version, m.Marshal(nil))); (err == nil) != want {
			t.Errorf("settlement %d: %v", number, err)
		}
	}
}
