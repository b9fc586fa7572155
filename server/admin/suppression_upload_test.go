package admin

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// An upload ends when its caller is no longer valid, at the latest at its end.
func TestUploadEndsWithItsCredential(t *testing.T) {
	const lines = "2125550101\n2125550102\n"
	for _, c := range []struct {
		name  string
		valid int // number of checks with a valid caller
		want  error
	}{
		{"valid to the end", 100, nil}, {"invalid at the beginning", 0, errUploaderInvalid}, {"invalid at the end", 1, errUploaderInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, other := net.Pipe()
			defer conn.Close()
			defer other.Close()
			checks := 0
			u := &uploadBodyReader{from: strings.NewReader(lines), conn: conn, length: len(lines), until: time.Now().Add(time.Hour), isStillValid: func() bool {
				checks++
				return checks <= c.valid
			}}
			read, err := io.ReadAll(u)
			if !errors.Is(err, c.want) || err == nil && string(read) != lines {
				t.Errorf("%q, %v", read, err)
			}
			if again, err := u.Read(make([]byte, 1)); c.want != nil && (again != 0 || !errors.Is(err, c.want)) {
				t.Errorf("read after the error: got %d, %v", again, err)
			}
		})
	}
}
