// Package link connects the nodes of a cluster. Each connection begins with a handshake in which both
// nodes show their identities. A node refuses another exchange, another key, another cluster, and a node that must not take
// part: one with an old copy of its data, a second one with the same id, or one that is no member.
//
// # The handshake
//
// Integers are little-endian. The node that dials sends a hello with the purpose of the connection. The
// other sends its own hello, then both send a verdict. A refusal ends the connection.
//
//	hello:
//	 0      4         5             6        …
//	+------+---------+-------------+--------+-------------------------+
//	| PPC1 | purpose | id length   | id …   | data, starts, run, …    |
//	+------+---------+-------------+--------+-------------------------+
//
//	purpose   of the connection: Raft or requests
//	id        of the node in the configuration
//	after the id, with their sizes in bytes:
//
//	data       16  a random number that was created with the node's data
//	starts      8  the number of starts of the node with this data
//	run         8  a random number of this start
//	exchange   16  the random number in the first log entry
//	key        16  fingerprint of the exchange's key
//	cluster    16  id of the cluster (package clusterid); zero if the node is in none yet
//	heartbeat   8  timeout in nanoseconds; Raft connections require the same one
//	position   24  before this start: the last Raft index, the term, and the term of the last vote
//
//	verdict: one byte (0 accepted, 1 refused, 2 refused, and the node must stop), a length of two bytes,
//	and that many bytes of text
package link
