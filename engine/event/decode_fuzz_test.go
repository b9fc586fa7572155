package event

import "testing"

// FuzzDecode checks that the decoder never panics, and that an accepted record encodes to one
// that decodes to the same event.
func FuzzDecode(f *testing.F) {
	for _, e := range emptyEvents() {
		f.Add(AppendRecord(nil, e))
		f.Add(AppendRecord(nil, fill(e)))
	}
	f.Add([]byte{})
	f.Add([]byte{0x08, 0x05, 0x10, 0x01, 0x1a, 0x05, 0x62, 0x03, 0x32, 0x01, 0xff}) // a truncated charge of a sale
	f.Add([]byte{0x08, 0x0c, 0x10, 0x01, 0x1a, 0x05, 0x9a, 0x01, 0x02, 0x3a, 0x03}) // a truncated currency of a bid
	f.Fuzz(func(t *testing.T, data []byte) {
		var d Decoder
		e, err := d.Decode(data)
		if err != nil {
			return
		}
		DescribeAsJSON(e)
		written := AppendRecord(nil, e)
		var again Decoder
		decoded, err := again.Decode(written)
		if err != nil {
			t.Fatalf("%x decodes to %+v, whose encoding does not decode: %v", data, e, err)
		}
		if twice := AppendRecord(nil, decoded); string(twice) != string(written) {
			t.Fatalf("%x decodes to %+v, and its encoding to %+v", data, e, decoded)
		}
		if lead, ok := e.(*LeadDecided); ok {
			var c LeadPersonalData
			_ = c.Decode(lead.Sealed)
		}
	})
}
