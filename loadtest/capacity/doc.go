// Command capacity says what a machine carries, from what `make bench` measured
// last: it reads BENCHMARKS.json and writes the README's section between its
// marks. It is `make capacity`.
//
// # The model
//
// An exchange has handlers, which spread over cores, and one committer, which
// does not. So a node of n cores carries the least of
//
//   - handlers: n cores, used to four fifths, over a lead's processor time, which
//     has the committer's part in it;
//   - committer: what it writes, fsyncs and applies alone, used to four fifths;
//   - disk: what a disk writes a second, over a lead's bytes in the log, twice,
//     since snapshots write again what the log brought;
//   - network: what its card carries, over the bytes of a lead's requests and answers.
//
// Memory bounds what may be held, not how fast it comes: a lead stays for as long
// as its idempotency key and its duplicates do.
//
// What is measured is a lead's time on one core of the machine that the file
// names; that it is the same on each of n cores is the model's word, and the
// section says so. What cannot be measured here stands in assumptions, by name.
package main
