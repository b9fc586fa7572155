package dial

import "testing"

func TestHasValidStatus(t *testing.T) {
	for head, want := range map[string]bool{
		"HTTP/1.1 200 OK\r\nA: b": true, "HTTP/1.0 404 Not Found": true, "HTTP/1.1 201": true, "HTTP/1.1 503 \r\n": true, "HTTP/1.1 200\nA: b": true, "HTTP/1.1 999 x": true,
		"": false, "HTTP/1.1 ": false, "HTTP/1.1 000 OK": false, "HTTP/1.1 099 OK": false, "HTTP/1.1 20": false, "HTTP/1.1 20x OK": false, "HTTP/1.1 2000 OK": false, "HTTP/1.1  200 OK": false, "HTTP/1.x 200 OK": false, "HTTP/1.1\t200 OK": false,
	} {
		if got := hasValidStatusLine([]byte(head)); got != want {
			t.Errorf("%q: %v", head, got)
		}
	}
}
