package event

import "testing"

// FuzzDecode gives the decoder anything. It may refuse; it may not panic, and
// what it took it must write and read again.
func FuzzDecode(f *testing.F) {
	for _, e := range everyKind() {
		f.Add(AppendRecord(nil, e))
		f.Add(AppendRecord(nil, fill(e)))
	}
	f.Add([]byte{})
	f.Add([]byte{0x08, 0x05, 0x10, 0x01, 0x1a, 0x05, 0x62, 0x03, 0x32, 0x01, 0xff}) // a charge that is torn, within a sale
	f.Add([]byte{0x08, 0x0c, 0x10, 0x01, 0x1a, 0x05, 0x9a, 0x01, 0x02, 0x3a, 0x03}) // a bid whose currency is cut
	f.Fuzz(func(t *testing.T, data []byte) {
		var d Decoder
		e, err := d.Decode(data)
		if err != nil {
			return
		}
		DescribeAsJSON(e)
		written := AppendRecord(nil, e)
		var again Decoder
		back, err := again.Decode(written)
		if err != nil {
			t.Fatalf("%x reads as %+v, which cannot be read again: %v", data, e, err)
		}
		if twice := AppendRecord(nil, back); string(twice) != string(written) {
			t.Fatalf("%x reads as %+v and again as %+v", data, e, back)
		}
		if lead, ok := e.(*LeadDecided); ok {
			var c LeadPersonalData
			_ = c.Decode(lead.Sealed)
		}
	})
}
