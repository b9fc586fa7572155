// Package strace records what a process asks of its system, exactly and in
// order, and reads the record.
//
// One tracer sees all threads and writes one line after the other, so what a
// thread did because of what another had done stands behind it. A call that
// other lines come between is written in two parts: it begins at the first and
// has happened at the second. Between the two nobody knows how far it is, which
// is what a crash finds too.
//
// Every string is written in hexadecimal, so no byte of a file or of a request
// can be taken for the record's own.
package strace
