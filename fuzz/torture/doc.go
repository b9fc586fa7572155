// Command torture does to an exchange what a bad machine, a bad disk and bad
// neighbours do to it, and audits what is left.
//
// The exchange is the real program in a process of its own; so are the buyers and
// the receiver of webhooks, which hang, break off, trickle, talk nonsense and answer
// twice. All kinds of requests are sent to it, as careful clients send them (package
// witness). Round after round a fault is chosen by chance and done to it, and after
// each fault, with everything going on:
//
//   - every acknowledged lead is in the log exactly once, and says what was answered;
//     asked again, it is answered the same to the byte;
//   - no buyer has a lead under two keys, no lead is at two buyers, no person and no bid
//     is sold twice, no cap and no account is passed, and all money adds up;
//   - the log verifies, begins as it began before, and replays to the live state;
//   - who was erased is so in the log, and then the key of his lead is gone, and no other;
//   - what an operator made, changed or removed all the while over the admin API (users,
//     tokens, entries of the configuration, suppression lists) is as it was acknowledged,
//     with its history; what had no answer is done or not, and never half;
//   - the report sums up to what the log says, of each buyer, to the millionth;
//   - idle, nothing is reserved, and in the end every event was delivered.
//
// The exchange backs up all the while, encrypted. It loses its disk at times and goes on
// from the backup; in the end copies are made as of several entries, which have to have
// the state of then, and nobody who was erased since.
//
// # Faults
//
// Each is a file with one fault in it, which puts itself on the list: to add one is to
// add a file. A fault leaves the exchange serving again, by itself or by a new start,
// whichever it has promised. What the machine does not permit (mounts, ptrace) is
// skipped, and the table says so.
//
// What is torn off a log must be more than what was acknowledged, so a fault never cuts
// where it only believes that nothing was told: it adds what a crash could have left
// there (tear.go), or cuts off what an fsync failed for (inject.go), which is what
// the kernel does to such pages.
//
// # Chance
//
// --seed repeats the choices: the leads, the order of the faults and what each draws.
// What the machine does between two choices it cannot repeat.
//
// # How it is known to see
//
// mutants_test.go breaks the program itself, one promise at a time, and the torture has to
// find each of these out.
package main
