//go:build unix

package docs_test

import (
	"math/rand/v2"
	"net"
	"regexp"
	"strconv"
	"testing"
)

// documented are the ports that pages name.
var documented = regexp.MustCompile(`\b(80[89]\d|909\d|4318)\b`)

// ports are those that a page is played with, by those that it names. They are
// reserved until the test ends.
type ports struct {
	t     testing.TB
	taken map[string]string
}

func newPorts(t testing.TB) *ports { return &ports{t: t, taken: map[string]string{}} }

// Replace puts the ports of this test into a text.
func (p *ports) Replace(text string) string {
	return documented.ReplaceAllStringFunc(text, func(port string) string {
		if p.taken[port] == "" {
			p.taken[port] = reserve(p.t)
		}
		return p.taken[port]
	})
}

// reserve finds a port of 127.0.0.1 that nobody has, and keeps other tests of this
// kind from it by the UDP port of its number. It is below those that a system gives
// to whoever asks for any.
func reserve(t testing.TB) string {
	t.Helper()
	for range 1000 {
		port := strconv.Itoa(20_000 + rand.IntN(10_000))
		place := net.JoinHostPort("127.0.0.1", port)
		held, err := net.ListenPacket("udp", place)
		if err != nil {
			continue
		}
		tried, err := net.Listen("tcp", place)
		if err != nil {
			held.Close()
			continue
		}
		tried.Close()
		t.Cleanup(func() { held.Close() })
		return port
	}
	t.Fatal("no port is free")
	return ""
}
