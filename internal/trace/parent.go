package trace

import "encoding/hex"

// parent is what a caller says of the trace that its request belongs to.
type parent struct {
	trace   [16]byte
	span    [8]byte
	sampled bool
}

// parseParent reads W3C's traceparent; anything else is not ok, and begins a trace of
// its own. Of a later version than 00 its first four parts are read, as the standard asks.
func parseParent(text []byte) (p parent, ok bool) {
	const whole = 55 // 00-<32 digits>-<16 digits>-<2 digits>
	if len(text) < whole || text[2] != '-' || text[35] != '-' || text[52] != '-' {
		return p, false
	}
	var version, flags [1]byte
	for _, part := range [...]struct{ into, digits []byte }{
		{version[:], text[:2]}, {p.trace[:], text[3:35]}, {p.span[:], text[36:52]}, {flags[:], text[53:55]},
	} {
		if !lower(part.digits) {
			return p, false
		}
		if _, err := hex.Decode(part.into, part.digits); err != nil {
			return p, false
		}
	}
	switch {
	case version[0] == 0xff, p.trace == [16]byte{}, p.span == [8]byte{}:
		return p, false
	case len(text) > whole && (version[0] == 0 || text[whole] != '-'):
		return p, false
	}
	p.sampled = flags[0]&1 != 0
	return p, true
}

// lower tells whether no digit is written as a capital, which the standard does not allow.
func lower(digits []byte) bool {
	for _, c := range digits {
		if c >= 'A' && c <= 'F' {
			return false
		}
	}
	return true
}
