package public

import (
	"fmt"
	"strings"
	"testing"

	"pingpost/server/servertest"
)

// Only buyers with the scope to report get memory for a batch. For others the limit of a
// lead applies, the rest of the body is discarded, and the connection closes.
func TestOnlyReportingBuyersGetBatchMemory(t *testing.T) {
	m := newAfterSaleExchange(t, new(servertest.MemoryLog))
	const lead = 64 << 10
	for _, row := range []struct {
		name, header string
		length       int
		status       int
		closes       bool
	}{
		{"no credential", "A: b", lead, 401, false},
		{"no credential", "A: b", lead + 1, 401, true},
		{"an invalid token", "Authorization: Bearer nothing", lead + 1, 401, true},
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
			if status != row.status || (header.Get("Connection") == "close") != row.closes || k.IsClosedOnNextRequest() != row.closes {
				t.Errorf("%s, %d bytes, chunks %v: %d %v %s", row.name, row.length, chunks, status, header, text)
			}
		}
	}
}
