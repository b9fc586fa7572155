package metrics

import (
	"io"
	"runtime/metrics"
	"strconv"
	"time"
)

// processFigures maps the usual names of Go process metrics to runtime metrics. Reading these
// does not stop the program, unlike the functions of the metrics library.
var processFigures = [...]struct{ name, source string }{
	{"go_goroutines", "/sched/goroutines:goroutines"},
	{"go_memlimit_bytes", "/gc/gomemlimit:bytes"},
	{"go_memstats_heap_alloc_bytes", "/memory/classes/heap/objects:bytes"},
	{"go_memstats_heap_released_bytes", "/memory/classes/heap/released:bytes"},
	{"go_memstats_sys_bytes", "/memory/classes/total:bytes"},
}

var processBegan = time.Now()

// writeRuntimeAndStartTimeMetrics writes memory, goroutines and start time of the process under the usual
// names of Go programs. Several exchanges may share one process and then show equal values.
func writeRuntimeAndStartTimeMetrics(w io.Writer) {
	samples := make([]metrics.Sample, len(processFigures))
	for i, figure := range processFigures {
		samples[i].Name = figure.source
	}
	metrics.Read(samples)
	var text []byte
	for i, figure := range processFigures {
		if samples[i].Value.Kind() != metrics.KindUint64 {
			continue // a later Go version may have dropped it
		}
		text = append(append(text, figure.name...), ' ')
		text = append(strconv.AppendUint(text, samples[i].Value.Uint64(), 10), '\n')
	}
	text = append(text, "process_start_time_seconds "...)
	text = append(strconv.AppendInt(text, processBegan.Unix(), 10), '\n')
	_, _ = w.Write(text) // an error means that the client has gone
}
