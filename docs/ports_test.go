//go:build unix

package docs_test

import (
	"math/rand/v2"
	"net"
	"regexp"
	"strconv"
	"testing"
)

// documented matches the ports in the pages.
var documented = regexp.MustCompile(`\b(80[89]\d|909\d|4318)\b`)

// ports maps the ports in a page to free ones, which are reserved until the test ends.
type ports struct {
	t    testing.TB
	free map[string]string // port in the page to free port
}

func newPorts(t testing.TB) *ports { return &ports{t: t, free: map[string]string{}} }

// Replace replaces the ports in a text.
func (p *ports) Replace(text string) string {
	return documented.ReplaceAllStringFunc(text, func(port string) string {
		if p.free[port] == "" {
			p.free[port] = reservePort(p.t)
		}
		return p.free[port]
	})
}

// reservePort returns a free port of 127.0.0.1. The UDP port of the same number keeps other
// tests of this kind from it. It is below the ports that the system assigns by itself.
func reservePort(t testing.TB) string {
	t.Helper()
	for range 1000 {
		port := strconv.Itoa(20_000 + rand.IntN(10_000))
		hostPort := net.JoinHostPort("127.0.0.1", port)
		reserved, err := net.ListenPacket("udp", hostPort)
		if err != nil {
			continue
		}
		listener, err := net.Listen("tcp", hostPort)
		if err != nil {
			reserved.Close()
			continue
		}
		listener.Close()
		t.Cleanup(func() { reserved.Close() })
		return port
	}
	t.Fatal("no port is free")
	return ""
}
