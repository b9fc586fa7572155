package child

import (
	"syscall"
	"time"

	"pingpost/loadtest/load"
)

// IngestSpec describes a run of the closed-loop or the open-loop client.
type IngestSpec struct {
	Addr             string
	Connections      int
	Rate             float64 // of the open loop: leads a second, as a Poisson process
	Warmup, Duration time.Duration
	FirstLead        uint64
	Supplier, APIKey string
	Campaigns        []string
}

func (s *IngestSpec) requests() load.Ingest {
	return load.Ingest{Leads: load.Leads{Supplier: s.Supplier, Campaigns: s.Campaigns}, Host: s.Addr, Key: s.APIKey}
}

// ClosedIngestResult is the result of the closed-loop client. Latencies are in
// nanoseconds.
type ClosedIngestResult struct {
	Rate       float64 // answers a second
	P50, P99   int64
	Done       uint64 // measured answers
	Sent       uint64 // requests, including the warm-up
	Body       uint64 // bytes of an answer's body
	NextLead   uint64
	Cores      float64 // cores that the client used
	FirstError string

	ServerSeconds float64 // CPU seconds of the server; set by the benchmark
}

// sendClosed sends leads over a number of connections, each as fast as it receives
// answers.
func sendClosed(spec *IngestSpec) (*ClosedIngestResult, error) {
	loop := load.ClosedLoop{
		Addr: spec.Addr, Connections: spec.Connections, Warmup: spec.Warmup, Duration: spec.Duration, First: spec.FirstLead,
		Requests: func() func([]byte, uint64) []byte {
			requests := spec.requests()
			return requests.Append
		},
		Good: load.Accepted,
	}
	began, used := time.Now(), processorTime()
	measured, err := loop.Run()
	if err != nil {
		return nil, err
	}
	result := &ClosedIngestResult{
		Rate: measured.Rate(), Done: measured.Done, NextLead: measured.Next, Sent: measured.Sent,
		P50: int64(measured.At(50)), P99: int64(measured.At(99)),
		Cores: (processorTime() - used).Seconds() / time.Since(began).Seconds(),
	}
	if measured.Done > 0 {
		result.Body = measured.Bytes / measured.Done
	}
	if err := measured.Err(); err != nil {
		result.FirstError = err.Error()
	}
	return result, nil
}

// processorTime returns the CPU time of this process.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// CPUPerLead returns the server's CPU seconds for a lead.
func (r *ClosedIngestResult) CPUPerLead() float64 { return r.ServerSeconds / float64(max(1, r.Sent)) }

// OpenIngestResult is the result of the open-loop client.
type OpenIngestResult struct {
	Done     uint64
	NextLead uint64 // number of the next lead
	Latency  Quantiles
}

// sendOpen sends leads at a rate.
func sendOpen(spec *IngestSpec) (*OpenIngestResult, error) {
	suppliers := make([]*load.Supplier, spec.Connections)
	loop := load.OpenLoop{
		Addr: spec.Addr, Connections: spec.Connections, Schedule: load.Schedule(load.Poisson(spec.Rate, spec.FirstLead), spec.Warmup, spec.Duration),
		First: spec.FirstLead, Sleep: load.Sleep,
		Handler: func(line int) func(*load.Conn, load.Arrival) {
			suppliers[line] = load.NewSupplier(spec.requests())
			return suppliers[line].Handle
		},
	}
	sent := loop.Run().Arrivals
	all := load.SumSuppliers(suppliers)
	return &OpenIngestResult{
		Done: all.Done, NextLead: spec.FirstLead + sent,
		Latency: Quantiles{int64(all.At(50)), int64(all.At(99)), int64(all.At(100))},
	}, all.Err()
}
