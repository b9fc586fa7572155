// Package load sends leads to an exchange over HTTP and measures their latency. It is the
// client of the benchmarks and of the load test, and only knows the exchange's API.
//
// In a closed loop, a connection sends its next lead when the last one was answered. This
// measures the capacity of a server. It does not show how a stall affects clients that
// would have arrived meanwhile. In an open loop, leads arrive at a rate, and their latency
// counts from the time when they were due.
//
// The client must not limit the measurement. Therefore it writes requests itself and reads the
// answers with fasthttp's parser: one write and about one read for each request, and no
// allocation.
package load
