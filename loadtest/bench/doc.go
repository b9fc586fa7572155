// Command bench measures the exchange on this machine and writes one table to the
// terminal and to BENCHMARKS.md. `make bench` runs it.
//
// A figure alone describes the machine more than the program. Therefore the same run also
// measures a ceiling where possible: a minimal server, a scan of the same files, or the
// same exchange with a small catalog. The two sides alternate, A B A B, so that a slower
// machine slows both, and each pair gives one ratio. The table shows the median of the
// ratios and their range. It marks a missed goal as missed.
//
// # Processes and cores
//
// Servers are real processes; the exchange is ./cmd/pingpost, built as for a release. The
// client is a separate process. With two or more cores, servers are pinned to the first
// cores and the client to the last, one in four and at least one. So neither takes CPU
// time from the other. SIGSTOP pauses a server that is not measured, so that its
// background work does not count against the other. It does that work in its own next run.
//
// The buyers of auctions are one process with a port for each buyer, on the client's
// cores. Each is an ordinary reference buyer. The table shows how much of these cores the
// buyers and the seller use. If they use nearly all, the servers wait for them, and the
// result measures the clients.
//
// Replay, memory, and commits beside a snapshot are measured in child processes too, so
// that each starts with an empty heap.
//
// # Auctions
//
// The cost of an auction is the server's CPU time while a fixed number of connections
// holds auctions in a closed loop. It is compared with the ceiling's as a ratio. The
// latency of an auction is measured in an open loop, at a rate that leaves the machine
// mostly idle, with buyers that respond slowly. It is compared as a difference. A closed
// loop is right for the cost and wrong for the latency.
//
// In auctions that end in a sale, the seller records each 201 with the buyer's lead id.
// The benchmark then asks the buyers for their leads and the times of their answers. Both
// accounts must agree.
//
// # Clusters
//
// A cluster is three processes. They are never paused, because they would elect a leader
// afterwards. A supplier in this process sends leads while the leader is killed or stopped, or its disk stalls.
// It repeats each lead at the next node until one acknowledges it. At the end, the log of
// each node must have each acknowledged lead once. During a hand-over each lead is sent once.
//
// # Other load
//
// The benchmark compares the busy time of the machine with that of its own processes. If
// other processes used more than a limit, it repeats the run, at most three times. After
// that the run counts, and the table says so.
//
// # Children
//
// The program starts itself for child processes. The first argument is a role, standard
// input has its specification in JSON, and standard output has its result in JSON. Package
// child implements the roles.
//
// The tests start no process. `make bench ARGS=--quick` runs every measurement in about a
// minute.
package main
