// Package strace records the system calls of a process exactly and in order, and reads the
// record.
//
// One tracer sees all threads and writes one line after another. If a thread acts on the result
// of another thread's call, its own call comes later in the record. A call that other calls
// interrupt has two lines: it starts at the first and ends at the second. Its progress between
// them is unknown, which is the situation of a crash too.
//
// All strings are recorded in hexadecimal, so no byte of a file or a request can be mistaken
// for the record's own syntax.
package strace
