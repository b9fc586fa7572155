package public

import (
	"fmt"
	"strings"
	"testing"

	"pingpost/server/servertest"
)

// TestStrangersGetNoRoomForBatches checks that only buyers who may report get memory for a
// batch. For others, the limit of a lead applies, the rest of the body is discarded, and
// the connection closes.
func TestStrangersGetNoRoomForBatches(t *testing.T) {
	m := trading(t, new(servertest.MemoryLog))
	const lead = 64 << 10
	for _, row := range []struct {
		who, header string
		length      int
		status      int
		ends        bool
	}{
		{"nobody", "A: b", lead, 401, false},
		{"nobody", "A: b", lead + 1, 401, true},
		{"a token that is none", "Authorization: Bearer nothing", lead + 1, 401, true},
		{"a seller", "Authorization: Bearer " + m.tokens["acme"], lead + 1, 403, true},
		{"a buyer without the scope", "Authorization: Bearer " + m.tokens["mute"], lead + 1, 403, true},
		{"a buyer", "Authorization: Bearer " + m.tokens["blue"], lead + 1, 422, false},
		{"a buyer", "Authorization: Bearer " + m.tokens["blue"], 8 * lead, 422, false},
		{"a buyer", "Authorization: Bearer " + m.tokens["blue"], 8*lead + 1, 413, true},
	} {
		for _, chunks := range []bool{false, true} {
			k := servertest.Dial(t, strings.TrimPrefix(m.address, "http://"))
			head, body := fmt.Sprintf("Content-Length: %d", row.length), "{}"+strings.Repeat(" ", row.length-2)
			if chunks {
				head, body = "Transfer-Encoding: chunked", fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", row.length, body)
			}
			status, header, text := k.Send("POST /v1/leads/status HTTP/1.1\r\nHost: x\r\n" + row.header + "\r\nContent-Type: application/json\r\n" + head + "\r\n\r\n" + body)
			if status != row.status || (header.Get("Connection") == "close") != row.ends || k.IsClosed() != row.ends {
				t.Errorf("%s, %d bytes, chunks %v: %d %v %s", row.who, row.length, chunks, status, header, text)
			}
		}
	}
}
