package trace

import (
	"bytes"
	"encoding/hex"
)

// callerTraceContext is the trace context that a caller sent with its request: its trace, its current span,
// and whether it wants the trace recorded.
type callerTraceContext struct {
	trace   [16]byte
	span    [8]byte
	sampled bool
}

// parseTraceparent parses the W3C header traceparent. ok is false if the header is invalid. As the
// standard requires, it accepts later versions and reads only the parts that it knows.
func parseTraceparent(text []byte) (p callerTraceContext, ok bool) {
	const whole = 55 // 00-<32 digits>-<16 digits>-<2 digits>
	if len(text) < whole || text[2] != '-' || text[35] != '-' || text[52] != '-' {
		return p, false
	}
	var version, flags [1]byte
	for _, part := range [...]struct{ into, digits []byte }{
		{version[:], text[:2]}, {p.trace[:], text[3:35]}, {p.span[:], text[36:52]}, {flags[:], text[53:55]},
	} {
		if bytes.ContainsAny(part.digits, "ABCDEF") { // the standard forbids them, but hex.Decode accepts them
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
