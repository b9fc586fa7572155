//go:build !race

package server

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestAllocOfAnIngest: an accepted lead, from the request as the HTTP library
// hands it over to the answer, with the log in memory.
func TestAllocOfAnIngest(t *testing.T) {
	s := newServer(t)
	filled(t, s)
	const runs = 20_000 // enough for the state's tables to have grown
	leads := make([][]byte, runs+2)
	for i := range leads {
		leads[i] = []byte(fmt.Sprintf("%-260s", leadOf(i))) // white space makes all equally long
	}
	var c call
	c.make(s, headOf(string(leads[0])), string(leads[0]))
	if c.ctx.Response.StatusCode() != 201 || !strings.Contains(string(c.ctx.Response.Body()), "ACCEPTED") {
		t.Fatalf("%d %s", c.ctx.Response.StatusCode(), c.ctx.Response.Body())
	}
	number := 0
	allocations := testing.AllocsPerRun(runs, func() {
		number++
		c.ctx.Response.Reset()
		c.body.Reset(leads[number])
		c.ctx.Request.SetBodyStream(&c.body, len(leads[number]))
		s.handle(&c.ctx)
	})
	if c.ctx.Response.StatusCode() != 201 || !bytes.Contains(c.ctx.Response.Body(), []byte("ACCEPTED")) {
		t.Fatalf("%d %s", c.ctx.Response.StatusCode(), c.ctx.Response.Body())
	}
	t.Logf("%.1f allocations", allocations)
	if allocations > 15 {
		t.Errorf("%.1f allocations for an accepted lead, at most 15", allocations)
	}
}

func BenchmarkIngest(b *testing.B) {
	s := newServer(b)
	filled(b, s)
	leads := make([][]byte, 1<<16)
	for i := range leads {
		leads[i] = []byte(fmt.Sprintf("%-260s", leadOf(i)))
	}
	var c call
	c.make(s, headOf(string(leads[0])), string(leads[0]))
	b.ReportAllocs()
	for i := 1; b.Loop(); i++ {
		lead := leads[i%len(leads)]
		c.ctx.Response.Reset()
		c.body.Reset(lead)
		c.ctx.Request.SetBodyStream(&c.body, len(lead))
		s.handle(&c.ctx)
	}
}
