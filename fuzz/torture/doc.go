// Package torture applies the faults of bad machines, disks and peers to an exchange, and
// audits the result.
//
// The exchange is the real program in its own process, and so are the buyers and the webhook
// receiver. These hang, break off, answer slowly, send malformed answers and answer twice.
// Clients send all kinds of requests (package witness). Each round injects a random fault, and
// then checks, while the load continues:
//
//   - The log has every acknowledged lead exactly once, with the answered content. A repeated
//     request gets the same answer byte by byte.
//   - No buyer has a lead under two keys, no lead is at two buyers, no person and no bid is
//     sold twice, no cap or account is exceeded, and all sums are exact.
//   - The log verifies, starts like before, and replays to the live state.
//   - The log has every erasure; the erased lead's key is gone, and no other key is.
//   - Everything that an operator creates, changes or deletes through the admin API (users,
//     tokens, configuration entries, suppression lists) is as acknowledged, with its history.
//     An edit without an answer is applied or not, but never half.
//   - The sales report matches the log for each buyer exactly.
//   - When idle, the exchange holds no reservation; at the end every webhook event was delivered.
//
// The exchange backs up continuously, encrypted. Sometimes it loses its disk and continues from
// the backup. At the end, copies are restored as of several entries; each must have the state
// of that moment, without the keys of persons erased since.
//
// # Faults
//
// The variable faults lists the faults: to add a fault, add a row. After a fault the exchange
// must serve again, by itself or after a restart, as it promises. The run skips faults that the
// machine does not permit (mounts, ptrace), and the table says so.
//
// A fault must not remove acknowledged bytes from a log. It therefore never cuts at a guess. It
// either appends bytes that a crash could have left (tearRecord), or removes bytes whose fsync
// failed (truncateUnsynced), as the kernel does with such pages.
//
// # Cluster
//
// TestTortureCluster injects the faults of clusterFaults into three nodes. Clients send each request
// to one node after the other until it is answered. The audit reads the leader and compares the other
// nodes with it: logs, states, files and lead keys. The test runs itself again in a network namespace
// (repeatInNetworkNamespace), and partitions the nodes there.
//
// # Randomness
//
// --seed repeats the choices: the leads, the order of the faults, and their parameters. It
// cannot repeat the machine's timing.
//
// # Proof of detection
//
// mutants_test.go breaks one promise of the program at a time, and the torture must detect
// each.
package torture
