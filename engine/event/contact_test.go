package event

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestPersonalDataRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var read LeadPersonalData
		for _, c := range rapid.SliceOfN(rapid.Make[LeadPersonalData](), 1, 5).Draw(t, "contacts") {
			data := c.AppendEncoded([]byte("before"))[len("before"):]
			if err := read.Decode(data); err != nil {
				t.Fatal(err)
			}
			if !slices.EqualFunc(read.Fields, c.Fields, func(a, b LeadField) bool {
				return a.Name == b.Name && a.Kind == b.Kind && bytes.Equal(a.Text, b.Text)
			}) || !bytes.Equal(read.Body, c.Body) {
				t.Fatalf("wrote %+v\nread  %+v", c, read)
			}
		}
	})
}

func TestTruncatedPersonalDataIsRejected(t *testing.T) {
	var c LeadPersonalData
	if err := c.Decode([]byte{0x12, 200}); err == nil {
		t.Error("truncated personal data was accepted")
	}
}
