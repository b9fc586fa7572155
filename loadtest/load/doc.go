// Package load sends leads to an exchange over HTTP and measures how long each
// takes. It is the client of the benchmarks and of the load test, and knows
// nothing of what it calls but the interface.
//
// In a closed loop a connection sends its next lead when the last one was
// answered. That measures how much a server can do, and is blind to what a
// stall does to those who would have come meanwhile. In an open loop arrivals
// come at a rate and are measured from when they were due.
//
// The client must never be what is measured. So it speaks HTTP by hand: one
// write and about one read a request, nothing allocated, no clock read but
// before and after.
package load
