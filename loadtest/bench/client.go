package main

import (
	"syscall"
	"time"

	"pingpost/loadtest/load"
)

// clientSpec is one run of the client.
type clientSpec struct {
	Addr             string
	Connections      int
	Warmup, Lasting  time.Duration
	From             uint64
	Supplier, APIKey string
	Campaigns        []string
}

// clientResult is what it measured. Times are in nanoseconds.
type clientResult struct {
	Rate               float64 // answers a second
	P50, P90, P99, Max int64
	Done               uint64 // answers measured
	Sent               uint64 // requests, in the warm-up too
	Body               uint64 // bytes of an answer's body
	Next               uint64
	Busy               float64 // cores that the client used
	Trouble            string

	ServerTime float64 // seconds that the server used; the bench fills it in
}

// drive is the client.
func drive(spec *clientSpec) (*clientResult, error) {
	loop := load.Closed{
		Addr: spec.Addr, Connections: spec.Connections, Warmup: spec.Warmup, Duration: spec.Lasting, From: spec.From,
		Requests: func() func([]byte, uint64) []byte {
			ingest := load.Ingest{
				Leads: load.Leads{Supplier: spec.Supplier, Campaigns: spec.Campaigns},
				Host:  spec.Addr, Key: spec.APIKey,
			}
			return ingest.Append
		},
		Good: load.Accepted,
	}
	began, used := time.Now(), processorTime()
	measured, err := loop.Run()
	if err != nil {
		return nil, err
	}
	result := &clientResult{
		Rate: measured.Rate(), Done: measured.Done, Next: measured.Next, Sent: measured.Sent,
		P50: int64(measured.At(50)), P90: int64(measured.At(90)), P99: int64(measured.At(99)), Max: int64(measured.At(100)),
		Busy: (processorTime() - used).Seconds() / time.Since(began).Seconds(),
	}
	if measured.Done > 0 {
		result.Body = measured.Bytes / measured.Done
	}
	if err := measured.Err(); err != nil {
		result.Trouble = err.Error()
	}
	return result, nil
}

// processorTime is what this process has used so far.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
