//go:build !race

package event

import "testing"

func TestEncodingAllocatesNothing(t *testing.T) {
	lead := typical()
	buf := Append(nil, lead)
	if n := testing.AllocsPerRun(1000, func() { buf = Append(buf[:0], lead) }); n != 0 {
		t.Errorf("%v allocations to encode a lead of %d bytes", n, len(buf))
	}
}

func TestDecodingAllocatesNothing(t *testing.T) {
	data := Append(nil, typical())
	for name, d := range map[string]*Decoder{"whole": {}, "brief": {Brief: true}} {
		if n := testing.AllocsPerRun(1000, func() {
			if _, err := d.Decode(data); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations to decode a lead", name, n)
		}
	}
}

func BenchmarkEncodeLead(b *testing.B) {
	lead := typical()
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = Append(buf[:0], lead)
	}
	b.ReportMetric(float64(len(buf)), "B/fact")
}

func BenchmarkDecodeLead(b *testing.B) {
	data := Append(nil, typical())
	for name, d := range map[string]*Decoder{"whole": {}, "brief": {Brief: true}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := d.Decode(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
