package metrics

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestProcessMetrics checks that each metric has a value, and compares those that the
// test can compute.
func TestProcessMetrics(t *testing.T) {
	ballast := make([]byte, 8<<20)
	stop := make(chan struct{})
	defer close(stop)
	for range 50 {
		go func() { <-stop }()
	}
	m := NewMeter(func(string, error) {})
	var text bytes.Buffer
	m.WriteMetrics(&text)
	read := func(name string) (value float64) {
		for line := range strings.Lines(text.String()) {
			if n, _ := fmt.Sscanf(line, name+" %g", &value); n == 1 {
				return value
			}
		}
		t.Errorf("the metrics lack %s:\n%s", name, text.String())
		return 0
	}
	if n := read("go_goroutines"); n < 50 || n > float64(runtime.NumGoroutine()+10_000) {
		t.Errorf("%v goroutines", n)
	}
	heap, sys, released := read("go_memstats_heap_alloc_bytes"), read("go_memstats_sys_bytes"), read("go_memstats_heap_released_bytes")
	if heap < float64(len(ballast)) || sys-released < heap || read("go_memlimit_bytes") <= 0 {
		t.Errorf("heap %v, sys %v, released %v", heap, sys, released)
	}
	if began := int64(read("process_start_time_seconds")); began > time.Now().Unix() || began < time.Now().Add(-time.Hour).Unix() {
		t.Errorf("start time is %d", began)
	}
	runtime.KeepAlive(ballast)
}
