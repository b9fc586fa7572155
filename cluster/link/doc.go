// Package link connects the nodes of a cluster. Each connection begins with a handshake in which both
// nodes show their identities. A node refuses another exchange, another key, another cluster, and a node that must not take
// part: one with an old copy of its data, or a second one with the same id.
//
// # The handshake
//
// Integers are little-endian. The node that dials sends a hello with the purpose of the connection. The
// other sends its own hello, then both send a verdict. A refusal ends the connection.
//
//	hello:
//	 0      4         5             6        …
//	+------+---------+-------------+--------+------------------------------------------------------------+
//	| PPC1 | purpose | id length   | id …   | data 16 | starts 8 | run 8 | exchange 16 | key 16 | cluster 16 |
//	+------+---------+-------------+--------+------------------------------------------------------------+
//
//	purpose   of the connection: Raft or requests
//	id        of the node in the configuration
//	data      a random number that was created with the node's data
//	starts    the number of starts of the node with this data
//	run       a random number of this start
//	exchange  the random number in the first log entry
//	key       fingerprint of the exchange's key
//	cluster   id of the cluster (package clusterid); zero if the node is in none yet
//
//	verdict: one byte (0 accepted, 1 refused, 2 refused, and the node must stop), a length of two bytes,
//	and that many bytes of text
package link
