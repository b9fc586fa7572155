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

// What is read is what was written, by one decoder for a whole log: nothing of
// a fact is left over in the next one of its kind.
func TestFactsComeBackAsTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d Decoder
		for _, e := range rapid.SliceOfN(someFact(), 1, 12).Draw(t, "log") {
			back, err := d.Decode(AppendRecord(nil, e))
			if err != nil {
				t.Fatalf("%s: %v", e.Kind(), err)
			}
			if !same(e, back) {
				t.Fatalf("wrote %+v\nread  %+v", e, back)
			}
		}
	})
}

// A full fact and then an empty one of the same kind, and the full one again.
func TestADecoderIsEmptiedBetweenFacts(t *testing.T) {
	var d Decoder
	empties := everyKind()
	for i, full := range everyKind() {
		fill(full)
		for _, e := range []Event{full, empties[i], full} {
			back, err := d.Decode(AppendRecord(nil, e))
			if err != nil || !same(e, back) {
				t.Errorf("wrote %+v\nread  %+v, %v", e, back, err)
			}
		}
	}
}

func envelope(kind, written uint32, fact []byte) []byte {
	var m easyproto.Marshaler
	mm := m.MessageMarshaler()
	mm.AppendUint32(envelopeKind, kind)
	mm.AppendUint32(envelopeVersion, written)
	mm.AppendBytes(envelopeEvent, fact)
	return m.Marshal(nil)
}

func TestWhatANewerProgramWroteIsRefused(t *testing.T) {
	last := uint32(len(everyKind()))
	tests := []struct {
		what string
		data []byte
	}{
		{"nothing", nil},
		{"kind zero", envelope(0, version, nil)},
		{"the next kind", envelope(last+1, version, nil)},
		{"a kind far away", envelope(1<<32-1, version, nil)},
		{"no version", envelope(1, 0, nil)},
		{"the next version", envelope(1, version+1, nil)},
	}
	for _, test := range tests {
		var d Decoder
		if e, err := d.Decode(test.data); !errors.Is(err, ErrUnknown) || e != nil {
			t.Errorf("%s: %v, %v", test.what, e, err)
		}
	}
}

// factOf cuts the fact out of an envelope.
func factOf(t testing.TB, data []byte) []byte {
	fact, ok, err := easyproto.GetMessageData(data, envelopeEvent)
	if err != nil || !ok {
		t.Fatalf("no fact in an envelope: %v", err)
	}
	return fact
}

// A fact is cut at every byte, in an envelope that is whole. Where the cut falls
// between two fields it is a smaller fact; elsewhere it is refused.
func TestACutFactIsSmallerOrRefused(t *testing.T) {
	for _, e := range everyKind() {
		fact := factOf(t, AppendRecord(nil, fill(e)))
		whole := []int{0}
		for rest := fact; len(rest) > 0; {
			var fc easyproto.FieldContext
			rest, _ = fc.NextField(rest)
			whole = append(whole, len(fact)-len(rest))
		}
		for n := range fact {
			var d Decoder
			_, err := d.Decode(envelope(uint32(e.Kind()), version, fact[:n]))
			if (err == nil) != slices.Contains(whole, n) {
				t.Errorf("%s cut to %d of %d bytes: %v", e.Kind(), n, len(fact), err)
			}
		}
	}
}

// Every field is tried in every wire form that is not its own.
func TestAFieldOfTheWrongFormIsRefused(t *testing.T) {
	forms := map[string]func(mm *easyproto.MessageMarshaler, field uint32){
		"a number":         func(mm *easyproto.MessageMarshaler, field uint32) { mm.AppendUint64(field, 1) },
		"a huge number":    func(mm *easyproto.MessageMarshaler, field uint32) { mm.AppendUint64(field, 1<<63) },
		"eight bytes":      func(mm *easyproto.MessageMarshaler, field uint32) { mm.AppendFixed64(field, 1) },
		"four bytes":       func(mm *easyproto.MessageMarshaler, field uint32) { mm.AppendFixed32(field, 1) },
		"a torn message":   func(mm *easyproto.MessageMarshaler, field uint32) { mm.AppendBytes(field, []byte{0xff}) },
		"seventeen bytes":  func(mm *easyproto.MessageMarshaler, field uint32) { mm.AppendBytes(field, make([]byte, 17)) },
		"bytes, too many":  func(mm *easyproto.MessageMarshaler, field uint32) { mm.AppendBytes(field, make([]byte, 33)) },
		"bytes, too few":   func(mm *easyproto.MessageMarshaler, field uint32) { mm.AppendBytes(field, make([]byte, 2)) },
		"nothing in bytes": func(mm *easyproto.MessageMarshaler, field uint32) { mm.AppendBytes(field, nil) },
	}
	var d Decoder
	for _, e := range everyKind() {
		for field := range fieldsOf(t, e) {
			refused := 0
			for _, form := range forms {
				var m easyproto.Marshaler
				form(m.MessageMarshaler(), field)
				_, err := d.Decode(envelope(uint32(e.Kind()), version, m.Marshal(nil)))
				if err != nil && !strings.Contains(err.Error(), e.Kind().String()) {
					t.Errorf("%s: the error names no kind: %v", e.Kind(), err)
				}
				if err != nil {
					refused++
				}
			}
			if refused == 0 {
				t.Errorf("%s: field %d is taken in any form", e.Kind(), field)
			}
		}
	}
}

func fieldsOf(t testing.TB, e Event) map[uint32]bool {
	fields := map[uint32]bool{}
	for rest := factOf(t, AppendRecord(nil, fill(e))); len(rest) > 0; {
		var fc easyproto.FieldContext
		var err error
		if rest, err = fc.NextField(rest); err != nil {
			t.Fatal(err)
		}
		fields[fc.FieldNum] = true
	}
	return fields
}

func TestCodesAndHashesHaveTheirLength(t *testing.T) {
	tests := []struct {
		what string
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
		{"the auction that a sale uses up", KindPostSettled, func(mm *easyproto.MessageMarshaler, v []byte) { mm.AppendMessage(3).AppendBytes(11, v) }, 16},
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
				t.Errorf("%s of %d bytes: %v", test.what, n, err)
			}
		}
	}
}

// The error names the malformed field, and not the field after it.
func TestErrorsNameTheField(t *testing.T) {
	next := "\x22\x01x" // field 4
	for body, number := range map[string]int{
		"\x0a\x01\x80" + next:        1, // a packed number ends too early
		"\x12\x03abc" + next:         2, // an identifier of three bytes
		"\x18\x01" + next:            3, // eight bytes as a varint
		"\x22\x02x":                  4, // a text ends too early
		"\x28\x80":                   5, // a varint ends too early
		"\x2b" + next:                5, // wire types that this program does not know
		"\x2c" + next:                5,
		"\x2e" + next:                5,
		"\x2f" + next:                5,
		"\x29\x01\x02" + next:        5, // a fixed number ends too early
		"\x2d\x01\x02\x03":           5,
		next + "\x2a\x80\x01" + next: 5, // a length beyond the end
	} {
		err := new(protobufCodec).decodeMessage([]byte(body), new(LeadsErased))
		if want := fmt.Sprintf("field %d ", number); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%x: %v, want %q", body, err, want)
		}
	}
}

func TestSmallEnumsAreNotCutShort(t *testing.T) {
	var d Decoder
	for number, want := range map[uint64]bool{255: true, 256: false, 1 << 40: false} {
		var m easyproto.Marshaler
		m.MessageMarshaler().AppendUint64(2, number)
		if _, err := d.Decode(envelope(uint32(KindPostSettled), version, m.Marshal(nil))); (err == nil) != want {
			t.Errorf("settlement %d: %v", number, err)
		}
	}
}
