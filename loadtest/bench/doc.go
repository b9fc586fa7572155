// Command bench measures the exchange on this machine and writes what it found
// as one table, to the terminal and to BENCHMARKS.md. It is `make bench`.
//
// A figure alone says more of the machine than of the program, so whatever can
// be is measured against a ceiling in the same run: a bare server, a bare scan
// of the same files, the same exchange with a small catalog. The two sides take
// turns, A B A B, so that a machine that grows slower meanwhile slows both, and
// each pair gives one ratio. The table has the median of the ratios and their
// range. A goal that is missed is told as a miss.
//
// # Who runs where
//
// Servers are real processes; the exchange is ./cmd/pingpost, built as it is
// shipped. The client is a process of its own. Where there are two cores or
// more, servers are pinned to the first ones and the client to the others, one
// in four and at least one, so that neither takes time from the other. A server
// that is not measured is stopped by SIGSTOP: what it would do in the background
// must not be charged to the other. What it owes then, it pays in its own next
// run.
//
// The buyers of auctions are one process with a port for each, on the client's
// cores. Each is a reference buyer as anybody can run it. What they and the
// seller use of those cores is in the table: near all of them, and the servers
// are waiting for their company, not working.
//
// Replay, memory and the commits beside a snapshot are measured in child
// processes too, so that each begins with an empty heap.
//
// # Auctions
//
// What an auction costs is the server's processor time for it, under as many
// auctions as a fixed number of connections carries: of the ceiling's, a
// multiple. How long one takes is asked at a rate that leaves the machine idle
// most of the time, with buyers that take their time: of the ceiling's, a
// difference. A closed loop is right for the first and wrong for the second.
//
// Where auctions end in a sale, the seller writes down each 201 with the
// buyer's own id of the lead, and the buyers are asked afterwards what they took
// and when they said so. Both must tell the same.
//
// # Other load
//
// The machine's busy time is compared with that of the processes measured. A
// run in which something else used more than a share of it is thrown away and
// done again, three times at most; after that it counts, and the table says so.
//
// # Roles
//
// The program starts itself for the children, with a role as its first argument
// and a specification in JSON on its standard input; the result, also JSON,
// comes on its standard output.
//
// The tests start no process. `make bench ARGS=--quick` runs every measurement in about
// a minute.
package main
